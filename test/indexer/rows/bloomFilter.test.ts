import { expect } from "chai";
import fc from "fast-check";
import { BloomFilter } from "../../../indexer/src/rows/bloomFilter.ts";

describe("BloomFilter", () => {
  it("contains everything that was added", () => {
    const name = fc.tuple(fc.constantFrom("wallet", "payment", ""), fc.string());
    fc.assert(
      fc.property(fc.array(name), (names) => {
        const filter = new BloomFilter(12);
        for (const [table, id] of names) filter.add(table, id);
        for (const [table, id] of names) expect(filter.mayHave(table, id)).to.equal(true);
      }),
    );
  });

  it("is rarely wrong about items that were not added, at ten bits for a name", () => {
    const filter = new BloomFilter(17);
    const count = 13_000;
    for (let n = 0; n < count; n++) filter.add("payment", `0x${n.toString(16).padStart(64, "0")}/0`);
    let wrong = 0;
    for (let n = 0; n < count; n++) {
      if (filter.mayHave("payment", `0x${(count + n).toString(16).padStart(64, "0")}/0`)) wrong++;
      if (filter.mayHave("funding", `0x${n.toString(16).padStart(64, "0")}/0`)) wrong++;
    }
    expect(wrong / (2 * count)).to.be.below(0.03);
  });
});
