import { expect } from "chai";
import { InvalidInputError } from "tallystick-protocol/errors";
import { readAuditingConfig } from "../../services/auditing/config.ts";

const ESCROW = `0x${"E5".repeat(20)}`;
const OTHER = `0x${"aa".repeat(20)}`;
const settings = {
  RPC_URL: "http://127.0.0.1:8545",
  CHAIN_ID: "8453",
  TOKEN_ADDRESS: `0x${"70".repeat(20)}`,
  AUDIT_OPERATOR_PRIVATE_KEY: `0x${"61".repeat(32)}`,
  AUDIT_POOL_PRIVATE_KEY: `0x${"62".repeat(32)}`,
  AUDIT_BUDGET_USDC: "25",
};

describe("the settings of an operator of audits", () => {
  it("spend no more than the budget, wait until a payment cannot be undone, and reach only public auditors", () => {
    const config = readAuditingConfig({ ...settings, ESCROWS: `${ESCROW}=acme, ${OTHER}=beta` });
    expect(config).to.deep.include({
      ...{ budget: 25_000_000n, least: 50_000n, payBefore: true, confirmations: 64, devMode: false },
      escrows: [ESCROW.toLowerCase(), OTHER],
    });
    expect(config).to.not.have.any.keys("arbiterKey", "canariesFile");
  });

  it("need one confirmation on a local chain, or as many as are given", () => {
    const confirmations = (changes: object) => readAuditingConfig({ ...settings, ...changes }).confirmations;
    expect(confirmations({ CHAIN_ID: "31337" })).to.equal(1);
    for (const CHAIN_ID of ["31337", "84532"])
      expect(confirmations({ CHAIN_ID, AUDIT_CONFIRMATIONS: "12" })).to.equal(12);
  });

  it("are refused with the name of every wrong variable", () => {
    const faults = (changes: { [name: string]: string }): string[] => {
      try {
        readAuditingConfig({ ...settings, ...changes });
      } catch (error) {
        expect(error).to.be.instanceOf(InvalidInputError);
        return (error as InvalidInputError).issues.map(({ field }) => field);
      }
      return [];
    };
    expect(faults({})).to.deep.equal([]);
    const wrong = {
      AUDIT_ARBITER_PRIVATE_KEY: "0x12",
      AUDIT_BUDGET_USDC: "",
      AUDIT_CONFIRMATIONS: "0",
      AUDIT_LEAST_USDC: "-1",
      AUDIT_PAY_BEFORE: "maybe",
      AUDIT_ROUND_MS: "5",
      DEV_MODE: "yes",
      TOKEN_ADDRESS: "USDC",
    };
    expect(faults(wrong).sort()).to.deep.equal(Object.keys(wrong).sort());
    expect(faults({ AUDIT_CONFIRMATIONS: "129" })).to.deep.equal(["AUDIT_CONFIRMATIONS"]);
    expect(faults({ ESCROWS: "acme" })).to.deep.equal(["ESCROWS"]);
  });
});
