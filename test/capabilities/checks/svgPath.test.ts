import { expect } from "chai";
import { isPathData } from "tallystick-capabilities/checks/svgPath";

describe("isPathData", () => {
  it("accepts paths that browsers draw completely", () => {
    for (const data of [
      "M0 0",
      "m10,10 20,20 30 30z",
      "M60 26 98 60H22z",
      "M.5-.5l1.e3-1e-3",
      "M0 0a1 1 0 01.5.5",
      "M0,0C1,2,3,4,5,6s1 2 3 4Q1 2 3 4T5 6",
      " M 1 1 Z M 2 2 z ",
      "",
    ]) {
      expect(isPathData(data), data).to.equal(true);
    }
  });

  it("refuses paths at which browsers stop", () => {
    for (const data of [
      "L1 1",
      "M1",
      "M1 1 L2",
      "M1 1 x",
      "M1 1 2",
      "M0 0a1 1 0 2 1 5 5",
      "M1 NaN",
      "10 10",
      "M1 1;",
    ]) {
      expect(isPathData(data), data).to.equal(false);
    }
  });
});
