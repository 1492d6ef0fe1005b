import { expect } from "chai";
import fc from "fast-check";
import { MemoryStore } from "tallystick-derive/memoryStore";
import { rowLeaf } from "tallystick-derive/rowLeaf";
import { Transaction } from "tallystick-derive/transaction";
import { contextAt } from "./contextAt.ts";

const step = fc.record({
  how: fc.constantFrom("insert", "put", "update"),
  id: fc.constantFrom("a", "b", "c"),
  counts: fc.string({ maxLength: 3 }),
});

/** Does a step, and says whether the store refused it. */
function refuses(
  store: MemoryStore | Transaction,
  { how, id, counts }: { how: string; id: string; counts: string },
) {
  try {
    if (how === "update") store.update("orderedNode", id, { counts });
    else store[how === "put" ? "put" : "insert"]("orderedNode", { id, counts });
    return false;
  } catch {
    return true;
  }
}

describe("a transaction", () => {
  it("reads and refuses like the store itself, and changes it only when it is committed", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 8 }), fc.array(step, { maxLength: 8 }), (before, steps) => {
        const [own, base, plain] = [new MemoryStore(), new MemoryStore(), new MemoryStore()];
        for (const store of [own, base, plain])
          for (const it of before) refuses(store, { ...it, how: "put" });
        const transaction = new Transaction(base);
        for (const it of steps) {
          // A transaction does not look into its base before it inserts a row.
          if (it.how === "insert" && plain.get("orderedNode", it.id) !== null) continue;
          expect(refuses(transaction, it)).to.equal(refuses(plain, it));
          for (const id of ["a", "b", "c"]) {
            expect(transaction.get("orderedNode", id)).to.deep.equal(plain.get("orderedNode", id));
            expect(base.get("orderedNode", id)).to.deep.equal(own.get("orderedNode", id));
          }
        }
        transaction.commitTo(base);
        for (const id of ["a", "b", "c"])
          expect(base.get("orderedNode", id)).to.deep.equal(plain.get("orderedNode", id));
      }),
      { seed: 5, numRuns: 300 },
    );
  });

  it("names the row that it cannot insert twice, or that it cannot update", () => {
    const transaction = new Transaction(new MemoryStore());
    transaction.insert("orderedNode", { id: "a", counts: "1" });
    expect(() => transaction.insert("orderedNode", { id: "a", counts: "2" })).to.throw(
      "The row a is in orderedNode already.",
    );
    expect(() => transaction.update("orderedNode", "b", { counts: "2" })).to.throw(
      "There is no row b in orderedNode to update.",
    );
    expect(transaction.get("orderedNode", "a")).to.deep.equal({ id: "a", counts: "1" });
    expect(transaction.get("orderedNode", "b")).to.equal(null);
  });
});

describe("the leaf of a row", () => {
  it("needs the row, and an error names its table and its id", () => {
    expect(() => rowLeaf(contextAt(1, 0), "orderedNode a")).to.throw(
      "There is no row a in orderedNode to digest.",
    );
    expect(() => rowLeaf(contextAt(1, 0), "auditAssignment x")).to.throw(
      "There is no row x in auditAssignment",
    );
  });
});
