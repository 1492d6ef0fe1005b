import { expect } from "chai";
import fc from "fast-check";
import { MemoryStore } from "tallystick-derive/memoryStore";
import { addEntry, type Entry, entriesDown, entriesUp } from "tallystick-derive/orderIndex";

/** Numbers close together, on the edges of pages and books, and far apart. */
const number = fc.oneof(
  fc.nat(40),
  fc.constantFrom(255, 256, 257, 65_535, 65_536, 65_537, 131_071, 131_072),
  fc.nat(500_000),
);
const entry = fc.record({ at: number, member: fc.constantFrom("", "0xa", "0xb", "0xc") });

describe("an ordered index", () => {
  it("gives the entries of any range in order, in both directions, at any size", async () => {
    const entries = fc.array(entry, { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(entries, number, number, async (added, a, b) => {
        const store = new MemoryStore();
        const kept: Entry[] = [];
        for (const it of added) {
          const isNew = !kept.some(({ at, member }) => at === it.at && member === it.member);
          expect(addEntry(store, "index", it)).to.equal(isNew);
          if (isNew) kept.push(it);
        }
        const [low, high] = [Math.min(a, b), Math.max(a, b)];
        const within = kept.filter(({ at }) => at >= low && at <= high);
        // Array sorting is stable: entries with the same number stay in the order in which they were added.
        const up = within.toSorted((x, y) => x.at - y.at);
        const down = within.toSorted((x, y) => y.at - x.at);
        expect([...entriesUp(store, "index", low, high)]).to.deep.equal(up);
        expect([...entriesDown(store, "index", high, low)]).to.deep.equal(down);
      }),
      { numRuns: 200 },
    );
  });
});
