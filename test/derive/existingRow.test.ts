import { expect } from "chai";
import { existingRow } from "tallystick-derive/existingRow";
import { MemoryStore } from "tallystick-derive/memoryStore";

describe("a row that must exist", () => {
  it("is read, and an error names its table and its id if there is none", () => {
    const store = new MemoryStore();
    store.insert("identityParty", { id: "1/a" });
    expect(existingRow(store, "identityParty", "1/a")).to.deep.equal({ id: "1/a" });
    expect(() => existingRow(store, "identityParty", "1/b")).to.throw("no row 1/b in identityParty");
  });
});
