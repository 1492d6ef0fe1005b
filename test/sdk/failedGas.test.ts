import { expect } from "chai";
import { type EndedItem, failedGas, type ItemEnd } from "tallystick-sdk/escrow/failedGas";

const GAS_EACH = 150_000;
const ENDS: ItemEnd[] = ["done", "late", "failed"];

/** Numbers from 0 to below 1, the same in each run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

/** A batch in which each item burns what its wallet wants. Of this the keeper sees only the sum and the trials. */
type World = { gasUsed: number; intrinsic: number; done: number; items: (EndedItem & { burned: number })[] };

function randomWorld(random: () => number, burn: (end: ItemEnd, tried: number) => number): World {
  const among = (least: number, most: number) => Math.floor(least + random() * (most - least + 1));
  const items = Array.from({ length: among(1, 12) }, () => {
    const end = ENDS[among(0, 2)] as ItemEnd;
    const gasUsed = among(40_000, 136_000);
    return { end, gasUsed, burned: Math.min(GAS_EACH, burn(end, gasUsed)) };
  });
  const intrinsic = 21_000 + items.length * among(4_000, 8_000);
  // The contract's own gas around its items.
  const around = items.length * among(0, 2_000);
  const gasUsed = items.reduce((sum, { burned }) => sum + burned, intrinsic + around);
  const done = items.reduce((sum, { end, burned }) => sum + (end === "done" ? burned : 0), 0);
  return { gasUsed, intrinsic, done, items };
}
const charged = (world: World) => failedGas({ ...world, gasEach: GAS_EACH });
const sum = (all: readonly number[]) => all.reduce((total, it) => total + it, 0);

describe("the gas for which failed items of a batch are charged", () => {
  it("is together at least what they burned, whatever each of them burned, if the good ones use what they used in trials", () => {
    const random = seeded(7);
    const seen = new Set<string>();
    for (let run = 0; run < 3_000; run++) {
      // An item that is done burns what it burned in its trial. Any other item burns what it wants.
      const world = randomWorld(random, (end, tried) => (end === "done" ? tried : random() * GAS_EACH));
      const charges = charged(world);
      const burned = sum(world.items.map((it) => (it.end === "done" ? 0 : it.burned)));
      expect(sum(charges), JSON.stringify(world)).to.be.at.least(Math.floor(burned));
      for (const [at, { end, burned: own }] of world.items.entries()) {
        const charge = charges[at] ?? Number.NaN;
        expect(charge).to.be.within(0, GAS_EACH);
        if (end === "done") expect(charge).to.equal(0);
        // A failed item is charged for all that it may have burned.
        if (end === "failed") expect(charge).to.be.at.least(Math.floor(own));
        seen.add(`${end} ${charge === GAS_EACH} ${charge === 0}`);
      }
    }
    expect([...seen], "every kind of charge").to.include.members([
      ...["done false true", "late false false", "late true false", "late false true"],
      ...["failed false false", "failed true false"],
    ]);
  });

  it("is about its own gas for an item that is late and honest, however much a liar burns beside it", () => {
    const random = seeded(11);
    let withLiars = 0;
    for (let run = 0; run < 3_000; run++) {
      // Who is late has only checked its signature: a part of its trial.
      const world = randomWorld(random, (end, tried) => {
        if (end === "failed") return random() < 0.5 ? GAS_EACH : random() * GAS_EACH;
        return end === "late" ? tried * 0.3 : tried * 0.8;
      });
      const charges = charged(world);
      const hasLiars = world.items.some(({ end }) => end === "failed");
      const lates = world.items.filter(({ end }) => end === "late").length;
      for (const [at, { end, burned }] of world.items.entries()) {
        if (end !== "late") continue;
        const around = (2_000 * world.items.length * 2) / lates;
        expect(charges[at], JSON.stringify(world)).to.be.at.most(burned + around * 2);
        withLiars += Number(hasLiars);
      }
    }
    expect(withLiars).to.be.greaterThan(1_000);
  });

  it("is all that it burned for an item that is late and alone", () => {
    const random = seeded(13);
    for (let run = 0; run < 1_000; run++) {
      const burns = Math.floor(random() * GAS_EACH);
      const items = [{ end: "late" as const, gasUsed: 60_000 }];
      const world = { items, intrinsic: 28_000, done: 0, gasUsed: 28_000 + burns };
      expect(failedGas({ ...world, gasEach: GAS_EACH })).to.deep.equal([burns]);
    }
  });

  it("of items that are late is shared in proportion to their trials, and what exceeds these counts for each", () => {
    const items = [60_000, 30_000].map((gasUsed) => ({ end: "late" as const, gasUsed }));
    const gasOf = (burned: number) =>
      failedGas({ gasUsed: 35_000 + burned, intrinsic: 35_000, done: 0, gasEach: GAS_EACH, items });
    expect(gasOf(0)).to.deep.equal([0, 0]);
    expect(gasOf(30_000)).to.deep.equal([20_000, 10_000]);
    expect(gasOf(89_999)).to.deep.equal([60_000, 30_000]);
    expect(gasOf(90_000)).to.deep.equal([60_000, 30_000]);
    expect(gasOf(100_000)).to.deep.equal([70_000, 40_000]);
    expect(gasOf(300_000)).to.deep.equal([GAS_EACH, GAS_EACH]);
    const untried = [{ end: "late" as const, gasUsed: 0 }];
    expect(failedGas({ gasUsed: 9, intrinsic: 0, done: 0, gasEach: 5, items: untried })).to.deep.equal([5]);
  });

  it("of one failed item is all that is left of the receipt", () => {
    const items = [
      { end: "failed" as const, gasUsed: 75_000 },
      { end: "done" as const, gasUsed: 60_000 },
    ];
    const gasOf = (gasUsed: number) =>
      failedGas({ gasUsed, intrinsic: 35_000, done: 50_000, gasEach: GAS_EACH, items });
    expect(gasOf(80_000)).to.deep.equal([0, 0]);
    expect(gasOf(85_001)).to.deep.equal([1, 0]);
    expect(gasOf(600_000)).to.deep.equal([GAS_EACH, 0]);
  });
});
