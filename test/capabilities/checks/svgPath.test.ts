import { expect } from "chai";
import * as fc from "fast-check";
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
      "M",
      "M0 0 L",
      "ML1 1",
      "M0 0z5",
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

  it("gives the ends and the control points of all commands, from the origin or from the last point", () => {
    for (const [data, points] of [
      ["", ""],
      ["M1 2L3 4", "1,2 3,4"],
      ["m1 2l3 4", "1,2 4,6"],
      ["M1 2 3 4", "1,2 3,4"],
      ["m1 2 3 4", "1,2 4,6"],
      ["M1 2H5V9", "1,2 5,2 5,9"],
      ["m1 2h5v9", "1,2 6,2 6,11"],
      ["M1 2C3 4 5 6 7 8", "1,2 3,4 5,6 7,8"],
      ["m1 2c3 4 5 6 7 8", "1,2 4,6 6,8 8,10"],
      ["M1 2q1 1 2 2t1 1", "1,2 2,3 3,4 4,5"],
      ["M1 2s1 1 2 2 3 3 4 4", "1,2 2,3 3,4 6,7 7,8"],
      ["M1 2h5zh2", "1,2 6,2 3,2"],
      ["M1 2M5 6h1zh2", "1,2 5,6 6,6 7,6"],
      ["M1 2 5 2 5 9zh2", "1,2 5,2 5,9 3,2"],
      ["m1 2 4 0 0 7zm2 0h1", "1,2 5,2 5,9 3,2 4,2"],
      ["M1 2L3", "1,2"],
      ["m10 10a5 5 0 0 1 10 0", "10,10 10,5 20,5 10,15 20,15 20,10"],
      ["M0 0A10 5 90 0 1 0 20l1 0", "0,0 -10,0 10,0 -10,20 10,20 0,20 1,20"],
      ["M3 4a5 5 0 0 1 0 0", "3,4"],
    ] as const) {
      const found = pathPoints(data).map((point) =>
        point.map((one) => Math.round(one * 1e6) / 1e6 + 0).join(),
      );
      expect([...new Set(found)].join(" "), data).to.equal(points);
    }
  });

  it("gives the box around the circle in which the ellipse of any arc lies", () => {
    const arc = fc.record({
      centre: fc.tuple(fc.integer({ min: -50, max: 50 }), fc.integer({ min: -50, max: 50 })),
      radii: fc.tuple(fc.integer({ min: 5, max: 40 }), fc.integer({ min: 5, max: 40 })),
      turned: fc.integer({ min: -180, max: 180 }),
      from: fc.integer({ min: 0, max: 359 }),
      over: fc.oneof(fc.integer({ min: 20, max: 160 }), fc.integer({ min: 200, max: 340 })),
      sweep: fc.boolean(),
    });
    fc.assert(
      fc.property(arc, ({ centre: [cx, cy], radii: [rx, ry], turned, from, over, sweep }) => {
        const [cos, sin] = [Math.cos, Math.sin].map(
          (f) => (degrees: number) => f((degrees * Math.PI) / 180),
        ) as [(degrees: number) => number, (degrees: number) => number];
        const at = (angle: number) =>
          [
            cx + rx * cos(angle) * cos(turned) - ry * sin(angle) * sin(turned),
            cy + rx * cos(angle) * sin(turned) + ry * sin(angle) * cos(turned),
          ].map((one) => one.toFixed(9));
        const flags = `${over > 180 ? 1 : 0} ${sweep ? 1 : 0}`;
        const end = at(from + (sweep ? over : -over));
        const box = boxOf(`M${at(from).join(" ")}A${rx} ${ry} ${turned} ${flags} ${end.join(" ")}`);
        const reach = Math.max(rx, ry);
        for (const [side, wanted] of [cx - reach, cy - reach, cx + reach, cy + reach].entries())
          expect(box[side]).to.be.closeTo(wanted, 0.001);
      }),
    );
  });

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
    expect(boxOf("M3 3A5 0 0 0 1 8 9")).to.deep.equal([3, 3, 8, 9]);
  });

  it("counts a pie as inside of the picture if its arc begins outside and is drawn inside", () => {
    const svg = (path: string) =>
      readSvg(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100"><path d="${path}"/></svg>`);
    expect(svg("M-30 50A40 40 0 1 1 -30 50.001Z").outside).to.equal(0);
    expect(svg("M-30 50A40 40 0 1 0 -30 50.001Z").outside).to.equal(1);
  });
});
