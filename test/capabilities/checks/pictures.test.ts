import { expect } from "chai";
import { MAX_PIXELS } from "tallystick-capabilities/checks/decodePicture";
import { measurePicture } from "tallystick-capabilities/checks/measurePicture";
import {
  isNotBlank,
  isNotNoise,
  matchesDimensions,
  measured,
  sizeRules,
} from "tallystick-capabilities/checks/pictureChecks";

const WHITE = 0xffffff;
/** A white sheet of 10 × 10 with a black box from (2, 3) to (5, 8). */
const box = {
  ...{ width: 10, height: 10 },
  rgbAt: (x: number, y: number) => (x >= 2 && x <= 5 && y >= 3 && y <= 8 ? 0 : WHITE),
};

describe("the measures of a picture", () => {
  it("describe a box on a sheet exactly", () => {
    const { contrast, roughness, ...rest } = measurePicture(box);
    expect(rest).to.deep.equal({
      ...{ colours: 2, commonest: 0.76, commonestEight: 1, edges: 12 / 90, emptyBand: 0.3 },
      ...{ inkWidth: 0.4, inkHeight: 0.6, rowPatterns: 2 },
    });
    expect(contrast).to.be.closeTo(255 * Math.sqrt(0.76 * 0.24), 1e-9);
    expect(roughness).to.be.closeTo((12 * 255) / 90 / contrast, 1e-9);
  });

  it("describe a sheet of one tone as empty", () => {
    for (const tone of [WHITE, 0, 0x808080])
      expect(measurePicture({ width: 10, height: 8, rgbAt: () => tone })).to.deep.equal({
        ...{ contrast: 0, colours: 1, commonest: 1, commonestEight: 1, roughness: 0, edges: 0 },
        ...{ emptyBand: 1, inkWidth: 0, inkHeight: 0, rowPatterns: 1 },
      });
  });

  it("count colours by four bits of each channel, and the eight most common ones", () => {
    // Each column has one colour, and the two columns at the left have the same.
    const columns = [
      0, 0x0f0f0f, 0x100000, 0x001000, 0x000010, 0xf00000, 0x00f000, 0x0000f0, 0x808080, 0x101010,
    ];
    const strips = { width: 10, height: 4, rgbAt: (x: number) => columns[x] as number };
    const { colours, commonest, commonestEight, emptyBand, inkWidth, inkHeight } = measurePicture(strips);
    expect([colours, commonest, commonestEight]).to.deep.equal([9, 0.2, 0.9]);
    expect([emptyBand, inkWidth, inkHeight]).to.deep.equal([0, 0.8, 1]);
  });

  it("compare lightness as the eye does, and count an edge from a difference above 12", () => {
    const pair = (right: number) =>
      measurePicture({ width: 2, height: 1, rgbAt: (x) => (x === 0 ? 0 : right) });
    for (const [right, light] of [
      [0xff0000, 76.245],
      [0x00ff00, 149.685],
      [0x0000ff, 29.07],
    ] as const)
      expect(pair(right).contrast).to.be.closeTo(light / 2, 1e-9);
    expect([pair(0x0c0c0c).edges, pair(0x0d0d0d).edges]).to.deep.equal([0, 1]);
  });

  it("look for edges at a distance that grows with the picture, and take at most a few samples", () => {
    // In a picture of 224 pixels the distance is 2: a line of one pixel makes edges at two distances.
    const stripes = (size: number) =>
      measurePicture({ width: size, height: size, rgbAt: (x) => (Math.floor(x / 2) % 2 === 0 ? 0 : WHITE) });
    expect(stripes(224).edges).to.equal(1);
    expect(stripes(112).edges).to.be.closeTo(0.5, 0.01);
    let asked = 0;
    measurePicture({
      ...{ width: 4_000, height: 4_000 },
      rgbAt: () => {
        asked++;
        return 0;
      },
    });
    expect(asked).to.be.below(5 * 65_536);
  });
});

describe("the checks of a picture", () => {
  type Rgb = (x: number, y: number) => number;
  const test = async (check: { test: (context: never) => unknown }, picture: object, said: object = {}) => {
    const once = async (name: string, make: () => unknown) => (name === "picture" ? picture : await make());
    const context = { input: {}, output: { image_b64: "" }, once, ...said };
    return await check.test(context as never);
  };
  const of = (rgbAt: Rgb) => ({ width: 10, height: 10, rgbAt });

  it("refuse a request for more pixels than can be decoded", () => {
    expect(sizeRules({ width: MAX_PIXELS, height: 1 })).to.deep.equal([]);
    expect(sizeRules({ width: MAX_PIXELS, height: 2 })).to.deep.equal([
      { field: "params.height", message: `must be smaller: at most ${MAX_PIXELS} pixels in all` },
    ]);
  });

  it("compare the size with the request and with what the output says, as far as these name it", async () => {
    const check = matchesDimensions();
    const said = (input: object, output: object) => test(check, box, { input, output });
    for (const [input, output] of [
      [{}, {}],
      [
        { width: 10, height: 10 },
        { width: 10, height: 10 },
      ],
      [{ width: 10 }, { height: 10 }],
    ] as const)
      expect(await said(input, output)).to.equal(undefined);
    expect(await said({ width: 10, height: 11 }, {})).to.equal("is 10 × 10, not 10 × 11");
    expect(await said({ width: 9 }, {})).to.equal("is 10 × 10, not 9 × 10");
    expect(await said({}, { width: 11, height: 10 })).to.equal("is 10 × 10, not 11 × 10");
  });

  it("find one tone throughout, and noise", async () => {
    const blank = "shows nothing: one tone throughout";
    expect(
      await test(
        isNotBlank(),
        of(() => 0x808080),
      ),
    ).to.equal(blank);
    expect(
      await test(
        isNotBlank(),
        of((x) => (x === 0 ? 0x808080 : 0x818181)),
      ),
    ).to.equal(blank);
    expect(await test(isNotBlank(), box)).to.equal(undefined);
    // Four colours of nearly the same lightness are a picture.
    const hues = [0x800000, 0x004100, 0x4a2000, 0x620f00];
    expect(
      await test(
        isNotBlank(),
        of((x) => hues[x % 4] as number),
      ),
    ).to.equal(undefined);
    expect(await test(isNotNoise(), box)).to.equal(undefined);
    const noise = await test(
      isNotNoise(),
      of((x, y) => ((x + y) % 2 === 0 ? 0 : WHITE)),
    );
    expect(noise).to.equal("is noise: neighbouring pixels differ by 2.00 times the contrast");
    const check = measured(({ colours }) => colours === 2, "has not two colours");
    expect(await test(check, box)).to.equal(undefined);
    expect(
      await test(
        check,
        of(() => 0),
      ),
    ).to.equal("has not two colours");
  });
});
