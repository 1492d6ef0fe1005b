import { expect } from "chai";
import { GrowingNumbers } from "../../../services/settlement/ledger/growingNumbers.ts";

describe("a growing list of numbers", () => {
  it("has every number in its place, also the largest, and none beyond its end", () => {
    const list = new GrowingNumbers();
    expect(list.at(0)).to.equal(undefined);
    const count = 2 * 8_192 + 2;
    for (let n = 0; n < count; n++) list.push(Number.MAX_SAFE_INTEGER - n);
    for (let n = 0; n < count; n++)
      if (list.at(n) !== Number.MAX_SAFE_INTEGER - n) expect.fail(`number ${n}`);
    expect([list.at(-1), list.at(3 * 8_192)]).to.deep.equal([undefined, undefined]);
  });
});
