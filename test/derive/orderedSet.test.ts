import { expect } from "chai";
import fc from "fast-check";
import { MemoryStore } from "tallystick-derive/memoryStore";
import { addNumber, removeNumber, selectAcross, selectNumbers } from "tallystick-derive/orderedSet";

/** Numbers of every length, many of them equal. */
const number = fc.oneof(fc.bigInt({ min: 0n, max: 5n }), fc.bigInt({ min: 0n, max: 2n ** 70n }));
const step = fc.record({ value: number, remove: fc.boolean(), pick: fc.nat() });

describe("an ordered set of numbers", () => {
  it("selects like a sorted list, as one row and as a tree", async () => {
    const steps = fc.array(step, { maxLength: 200, size: "max" });
    await fc.assert(
      fc.asyncProperty(steps, async (steps) => {
        const store = new MemoryStore();
        const expected: bigint[] = [];
        for (const { value, remove, pick } of steps) {
          const [gone] = remove && expected.length > 1 ? expected.splice(pick % expected.length, 1) : [];
          if (gone === undefined) expected.push(value);
          await (gone === undefined ? addNumber(store, "set", value) : removeNumber(store, "set", gone));
          expected.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
          const ranks = [0, pick % expected.length, expected.length - 1];
          const selected = selectNumbers(store, "set", ranks);
          expect(selected).to.deep.equal(ranks.map((rank) => expected[rank]));
        }
      }),
      { numRuns: 60 },
    );
  });

  it("can be searched together with other sets, which may be single rows, trees or missing", () => {
    const sets = fc.array(fc.array(number, { maxLength: 90, size: "max" }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(sets, fc.nat(), (sets, pick) => {
        const store = new MemoryStore();
        for (const [n, numbers] of sets.entries()) for (const it of numbers) addNumber(store, `set${n}`, it);
        const all = sets.flat().sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
        const names = sets.map((_, n) => `set${n}`);
        expect(() => selectAcross(store, names, all.length)).to.throw("no number of rank");
        if (all.length === 0) return;
        for (const rank of [0, pick % all.length, all.length - 1])
          expect(selectAcross(store, names, rank)).to.equal(all[rank]);
      }),
      { numRuns: 60 },
    );
  });

  it("refuses an impossible rank, and the removal of a missing number", () => {
    const store = new MemoryStore();
    addNumber(store, "set", 7n);
    expect(() => selectNumbers(store, "set", [1])).to.throw("has no number of rank 1");
    expect(() => removeNumber(store, "set", 8n)).to.throw(Error);
  });
});
