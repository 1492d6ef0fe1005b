import { expect } from "chai";
import hre from "hardhat";
import { goals } from "../../tools/bench/gas/goals.ts";
import type { GasFigures } from "../../tools/bench/gas/measureEscrow.ts";
import { drift, measureGas, readSnapshot } from "../../tools/bench/gas/snapshot.ts";

describe("Gas", function () {
  this.timeout(300_000);

  it("should report a figure that changes by more than one per cent, a new figure, and a missing figure", () => {
    const before = { steady: 10_000, dearer: 10_000, cheaper: 10_000, gone: 1 };
    expect(drift(before, { steady: 10_100, dearer: 10_101, cheaper: 9_899, new: 1 })).to.deep.equal([
      "dearer: 10000 → 10101 (1.01 %)",
      "cheaper: 10000 → 9899 (-1.01 %)",
      "gone: in the snapshot, not measured",
      "new: 1, not in the snapshot",
    ]);
  });

  // In a coverage run the contracts use another amount of gas.
  if (!hre.globalOptions.coverage) {
    describe("of the present contracts", () => {
      let figures: GasFigures;
      before(async () => {
        figures = await measureGas();
      });

      it("should equal the committed snapshot within one per cent (if the change is wanted: npm run bench:gas -- --update)", async () => {
        expect(drift(await readSnapshot(), figures)).to.deep.equal([]);
      });

      it("should stay below the goals", () => {
        for (const { name, actual, limit } of goals(figures)) expect(actual, name).to.be.at.most(limit);
      });
    });
  }
});
