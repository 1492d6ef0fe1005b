import { expect } from "chai";
import { correlation } from "tallystick-capabilities/checks/correlation";

describe("correlation", () => {
  it("is that of Pearson", () => {
    const cases: [a: number[], b: number[], value: number][] = [
      [[1, 2, 3], [2, 4, 6], 1],
      [[1, 2, 3], [6, 4, 2], -1],
      [[1, 2, 3], [1, 3, 2], 0.5],
      [[-1, 0, 1], [1, 0, 1], 0],
      [[1, 2, 4], [1, 5, 3], 2 / Math.sqrt((42 / 9) * 8)],
    ];
    for (const [a, b, value] of cases) {
      expect(correlation(a, b), JSON.stringify([a, b])).to.be.closeTo(value, 1e-12);
      expect(correlation(b, a), JSON.stringify([b, a])).to.be.closeTo(value, 1e-12);
    }
  });

  it("is 0 if one of the lists is constant", () => {
    for (const [a, b] of [
      [
        [5, 5],
        [1, 2],
      ],
      [
        [1, 2],
        [5, 5],
      ],
      [
        [5, 5],
        [5, 5],
      ],
      [[1], [2]],
    ] as const)
      expect(correlation([...a], [...b]), JSON.stringify([a, b])).to.equal(0);
  });
});
