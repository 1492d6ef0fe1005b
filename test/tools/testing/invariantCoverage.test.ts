import { expect } from "chai";
import { describeInvariantCoverage, sumInvariantCoverage } from "../../../tools/testing/invariantCoverage.ts";

describe("invariantCoverage", () => {
  const lines = [
    '{"suite":"Escrow","deposit":3,"withdraw":0}',
    '{"suite":"Ledger","anchor":2}',
    '{"suite":"Escrow","deposit":4,"withdraw":0}',
  ];

  it("should add up the calls of each suite over its runs", () => {
    expect(sumInvariantCoverage(lines)).to.deep.equal([
      { suite: "Escrow", runs: 2, calls: { deposit: 7, withdraw: 0 } },
      { suite: "Ledger", runs: 1, calls: { anchor: 2 } },
    ]);
    expect(sumInvariantCoverage([])).to.deep.equal([]);
  });

  it("should name the calls that no run made", () => {
    expect(describeInvariantCoverage(sumInvariantCoverage(lines))).to.deep.equal({
      lines: ["Escrow invariants, 2 runs: deposit 7, withdraw 0", "Ledger invariants, 1 runs: anchor 2"],
      missing: ["Escrow: withdraw"],
    });
  });
});
