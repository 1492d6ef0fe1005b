import { expect } from "chai";
import fc from "fast-check";
import {
  append,
  firstItemsOf,
  itemOf,
  itemsOf,
  lastItem,
  listLength,
  replaceItems,
} from "tallystick-derive/lists";
import { MemoryStore } from "tallystick-derive/memoryStore";

describe("lists", () => {
  it("return the appended items, in order, at any length", async () => {
    const item = fc.string().map((text) => text.replaceAll("\n", " "));
    await fc.assert(
      fc.asyncProperty(fc.array(item, { maxLength: 150, size: "max" }), async (items) => {
        const store = new MemoryStore();
        expect(lastItem(store, "list")).to.equal(null);
        for (const [n, item] of items.entries()) {
          append(store, "list", item);
          expect(lastItem(store, "list")).to.equal(item);
          expect(listLength(store, "list")).to.equal(n + 1);
        }
        expect([...itemsOf(store, "list")]).to.deep.equal(items);
        expect([...firstItemsOf(store, "list")]).to.deep.equal(items);
        for (const [n, item] of items.entries()) expect(itemOf(store, "list", n)).to.equal(item);
        expect(itemOf(store, "list", items.length)).to.equal(null);
      }),
    );
  });

  it("return the items that they had when a loop began, also if they grow during the loop", async () => {
    for (const length of [1, 15, 16, 17, 32]) {
      const store = new MemoryStore();
      for (let n = 0; n < length; n++) append(store, "list", String(n));
      const seen: string[] = [];
      for (const item of itemsOf(store, "list")) {
        seen.push(item);
        append(store, "list", "later");
      }
      expect(seen).to.deep.equal(Array.from({ length }, (_, n) => String(n)));
    }
  });

  it("may get other items, fewer or more, and grow from there", () => {
    const items = fc.array(
      fc.string().map((text) => text.replaceAll("\n", " ")),
      { maxLength: 70 },
    );
    fc.assert(
      fc.property(items, items, items, (before, replaced, appended) => {
        const store = new MemoryStore();
        for (const item of before) append(store, "list", item);
        replaceItems(store, "list", replaced);
        for (const item of appended) append(store, "list", item, true);
        const all = [...replaced, ...appended];
        expect([...itemsOf(store, "list")]).to.deep.equal(all);
        expect(listLength(store, "list")).to.equal(all.length);
        expect(lastItem(store, "list")).to.equal(all.at(-1) ?? null);
      }),
      { examples: [[["a"], [], []]] },
    );
  });

  it("are one row while they are short", async () => {
    const store = new MemoryStore();
    for (let n = 0; n < 15; n++) append(store, "list", String(n));
    expect([store.rows("list").size, store.rows("listPage").size]).to.deep.equal([1, 0]);
  });
});
