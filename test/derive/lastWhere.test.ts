import { expect } from "chai";
import { lastWhere } from "tallystick-derive/lastWhere";
import { append } from "tallystick-derive/lists";
import { MemoryStore } from "tallystick-derive/memoryStore";

describe("the last item for which something holds", () => {
  it("is found in a list of any length, in few steps", () => {
    const store = new MemoryStore();
    expect(lastWhere(store, "none", () => true)).to.equal(null);
    for (let length = 1; length <= 40; length++) {
      append(store, "list", String(length));
      for (let last = 0; last <= length; last++) {
        let steps = 0;
        const found = lastWhere(store, "list", (item) => {
          steps++;
          return Number(item) <= last;
        });
        expect(found, `${last} of ${length}`).to.equal(last === 0 ? null : String(last));
        expect(steps).to.be.at.most(Math.floor(Math.log2(length)) + 1);
      }
    }
  });
});
