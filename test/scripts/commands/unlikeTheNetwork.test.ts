import { expect } from "chai";
import { unlikeTheNetwork } from "../../../scripts/commands/verifyContracts.ts";

const USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
const OTHER = `0x${"0f".repeat(20)}`;

describe("an escrow that no file records", () => {
  const escrowOf = (token: string) => [{ contract: "HireEscrow" as const, values: { token } }];

  it("differs if it holds another token than the network's USDC", () => {
    expect(unlikeTheNetwork(escrowOf(OTHER), 8_453)).to.deep.equal([
      `The escrow's token is ${OTHER}, not ${USDC.toLowerCase()}.`,
    ]);
    expect(unlikeTheNetwork(escrowOf(USDC), 8_453)).to.deep.equal([]);
  });

  it("is compared with nothing on a network whose USDC is not known, and neither is a ledger", () => {
    expect(unlikeTheNetwork(escrowOf(OTHER), 1)).to.deep.equal([]);
    expect(unlikeTheNetwork([{ contract: "AnchoredLedger", values: {} }], 8_453)).to.deep.equal([]);
  });
});
