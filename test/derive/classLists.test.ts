import { expect } from "chai";
import { openContext } from "tallystick-derive/applyContext";
import { nearClasses } from "tallystick-derive/fingerprint/classes";
import { type Class, candidates, listClass, sizesBetween } from "tallystick-derive/fingerprint/classLists";
import { allItems } from "tallystick-derive/lists";
import { MemoryStore } from "tallystick-derive/memoryStore";

/** A store with classes that have one member each. Their ids are in the order in which their sets appeared. */
function open() {
  const store = new MemoryStore();
  const context = openContext(store, { kind: "tick", block: 1, time: 1 });
  let appeared = 0;
  const add = (...tokens: string[]): Class => {
    appeared++;
    const row = { id: `class${appeared}`, tokens: tokens.join("\n"), members: 1, around: 1, core: false };
    const own = { ...row, appeared, similarity: "1/1" };
    store.put("fingerprint", own);
    listClass(context, own);
    return own;
  };
  const items = (list: string) => allItems(store, list);
  const found = (tokens: string[], size: number, needed: number) =>
    [...candidates(context, tokens, size, needed)].map(({ id }) => id);
  return { store, context, add, items, found };
}

describe("the lists of classes", () => {
  it("have as many classes of a size as a set of this size has tokens, and the others by their tokens", () => {
    const { store, add, items } = open();
    add("a", "b");
    add("a", "c");
    add("a", "d");
    add("b", "d");
    add("z");
    expect(items("classes/2")).to.deep.equal(["class1/1", "class2/2"]);
    expect(items("classes/2/a")).to.deep.equal(["class3/3"]);
    expect(items("classes/2/b")).to.deep.equal(["class4/4"]);
    expect(items("classes/2/d")).to.deep.equal(["class3/3", "class4/4"]);
    expect(items("tokenLists/2"), "written once").to.deep.equal([""]);
    expect(items("classes/1")).to.deep.equal(["class5/5"]);
    expect(items("tokenLists/1")).to.deep.equal([]);
    expect([...store.rows("list").keys()].filter((it) => it.startsWith("classes/"))).to.have.length(5);
  });

  it("name the sizes that any class has, from the least to the most, both included", () => {
    const { context, add } = open();
    for (const tokens of [["a"], ["a", "b"], ["c", "d"], ["a", "b", "c"], ["a", "b", "c", "d"]])
      add(...tokens);
    expect(sizesBetween(context, 2, 3)).to.deep.equal([2, 3]);
    expect(sizesBetween(context, 1, 9)).to.deep.equal([1, 2, 3, 4]);
    expect(sizesBetween(context, 5, 9)).to.deep.equal([]);
  });

  it("are read for the rarest tokens only, of which a similar set has at least one", () => {
    const { store, add, found } = open();
    // Two classes fill the list of the size. Then token a has three classes, b two, and c one.
    for (const tokens of [
      ["x", "y"],
      ["x", "z"],
      ["a", "c"],
      ["a", "b"],
      ["a", "d"],
      ["b", "d"],
    ])
      add(...tokens);
    const read: string[] = [];
    const { get } = store;
    store.get = (table, id) => {
      if (table === "list" && id.startsWith("classes/2/")) read.push(id);
      return get.call(store, table, id) as never;
    };
    const listsRead = (needed: number) => {
      read.length = 0;
      const ids = found(["a", "b", "c"], 2, needed);
      // The first three look-ups are for the lengths of the lists.
      return [ids, read.slice(3).map((it) => it.slice("classes/2/".length))];
    };
    expect(listsRead(3)).to.deep.equal([["class1", "class2", "class3"], ["c"]]);
    expect(listsRead(2)).to.deep.equal([
      ["class1", "class2", "class3", "class4", "class6"],
      ["c", "b"],
    ]);
    const all = ["class1", "class2", "class3", "class4", "class6", "class5"];
    expect(listsRead(1)).to.deep.equal([all, ["c", "b", "a"]]);
    expect(found(["a", "b", "c"], 3, 1), "no class of that size").to.deep.equal([]);
  });

  it("are written again without the classes that disappeared, when these are more than a page and more than the others", () => {
    for (const [gone, left, after] of [
      [16, 0, 16],
      [17, 0, 0],
      [20, 20, 40],
      [21, 20, 20],
    ] as const) {
      const { store, add, items, found } = open();
      const size = 64;
      const rows = Array.from({ length: gone + left }, (_, n) =>
        add(...Array.from({ length: size }, (_, m) => `${n}.${m}`)),
      );
      for (const row of rows.slice(0, gone)) store.update("fingerprint", row.id, { members: 0 });
      expect(items(`classes/${size}`)).to.have.length(gone + left);
      expect(found(["x"], size, 1)).to.deep.equal(rows.slice(gone).map(({ id }) => id));
      expect(items(`classes/${size}`), `${gone} of ${gone + left}`).to.have.length(after);
    }
  });

  it("do not give a class that appeared again by its earlier place", () => {
    const { store, add, found } = open();
    const own = add("a", "b");
    store.update("fingerprint", own.id, { appeared: 2 });
    expect(found(["a", "b"], 2, 1)).to.deep.equal([]);
  });

  it("cannot be searched before any set of tokens appeared", () => {
    const { context } = open();
    const own = { id: "x", tokens: "a", members: 0, around: 0, core: false, appeared: 1, similarity: "1/1" };
    expect(() => nearClasses(context, own)).to.throw("No set of tokens has appeared yet.");
  });
});
