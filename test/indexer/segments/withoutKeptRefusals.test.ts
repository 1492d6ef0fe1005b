import { expect } from "chai";
import { askWallet, type CallReader } from "tallystick-protocol/erc1271/askWallet";
import { VERDICTS } from "tallystick-protocol/erc1271/walletProbe";
import { type Hex, numberToHex } from "viem";
import { withoutKeptRefusals } from "../../../indexer/src/segments/withoutKeptRefusals.ts";

const question = {
  signer: `0x${"c0".repeat(20)}`,
  hash: `0x${"12".repeat(32)}`,
  signature: "0x1234",
} as const;
const witness = `0x${"aa".repeat(20)}` as const;

const word = (verdict: bigint): Hex => numberToHex(verdict, { size: 32 });
const answering = (data: Hex): CallReader => ({ call: async () => ({ data }) });
const silent: CallReader = { call: async () => expect.fail("the chain was asked") };

describe("the answers of wallets that Ponder keeps", () => {
  it("are asked for again when the chain's node had no state of the block, or gave no verdict", async () => {
    for (const kept of [word(VERDICTS.noState), word(VERDICTS.tooLittleGas), word(99n), "0x"] as const) {
      const reader = withoutKeptRefusals(answering(kept), answering(word(VERDICTS.yes)));
      expect(await askWallet(reader, question, witness), kept).to.equal("yes");
    }
  });

  it("are used as they are when they say something about the wallet", async () => {
    for (const [verdict, answer] of [
      [VERDICTS.yes, "yes"],
      [VERDICTS.no, "no"],
      [VERDICTS.noContract, "no_contract"],
    ] as const) {
      const reader = withoutKeptRefusals(answering(word(verdict)), silent);
      expect(await askWallet(reader, question, witness)).to.equal(answer);
    }
  });

  it("still say that the chain cannot be asked while its node has no state of the block", async () => {
    const none = answering(word(VERDICTS.noState));
    const asked = askWallet(withoutKeptRefusals(none, none), question, witness);
    expect(await asked.catch(({ code }) => code)).to.equal("chain_unavailable");
  });
});
