import { expect } from "chai";
import { readSvg } from "tallystick-capabilities/checks/readSvg";
import { isPathData, pathPoints } from "tallystick-capabilities/checks/svgPath";

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

  it("refuses paths that browsers draw only in part, or not at all", () => {
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

describe("pathPoints", () => {
  const boxOf = (data: string) => {
    const points = pathPoints(data);
    const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
    return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
  };

  it("gives points whose box contains the whole circle of an arc, for every form of the arc", () => {
    for (const data of [
      "M50 0A50 50 0 1 1 49.999 0",
      "M0 50a50 50 0 0 1 100 0",
      "M50 0A50 50 0 0 1 100 50",
      "M50 0A50 50 0 1 0 100 50.0001",
    ]) {
      const [left = 0, top = 0, right = 0, bottom = 0] = boxOf(data);
      expect(right - left, data).to.be.closeTo(100, 0.01);
      expect(bottom - top, data).to.be.closeTo(100, 0.01);
    }
    expect(boxOf("M0 50A50 50 0 0 1 100 50").map(Math.round)).to.deep.equal([0, 0, 100, 100]);
    // The large arc between the same ends has its centre on the other side.
    expect(boxOf("M50 0A50 50 0 0 1 100 50").map(Math.round)).to.deep.equal([0, 0, 100, 100]);
    expect(boxOf("M50 0A50 50 0 1 1 100 50").map(Math.round)).to.deep.equal([50, -50, 150, 50]);
    // The radii are too small for the distance of the ends, so SVG enlarges them.
    expect(boxOf("M0 0A1 1 0 0 1 20 0").map(Math.round)).to.deep.equal([0, -10, 20, 10]);
    expect(boxOf("M3 3A0 5 0 0 1 8 9")).to.deep.equal([3, 3, 8, 9]);
  });

  it("counts a pie as inside of the picture if its arc begins outside and is drawn inside", () => {
    const svg = (path: string) =>
      readSvg(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100"><path d="${path}"/></svg>`);
    expect(svg("M-30 50A40 40 0 1 1 -30 50.001Z").outside).to.equal(0);
    expect(svg("M-30 50A40 40 0 1 0 -30 50.001Z").outside).to.equal(1);
  });
});
