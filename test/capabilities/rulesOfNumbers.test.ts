import { expect } from "chai";
import { encode } from "fast-png";
import { requireCapability } from "tallystick-capabilities/capabilityOf";
import { MAX_PIXELS } from "tallystick-capabilities/checks/decodePicture";
import { Canvas, hex } from "../../tools/samples/canvas.ts";
import { holdRules, type RuleCase } from "./support/holdRules.ts";

const rulesOf = async (id: string, input: object) => {
  const { capability, parts } = await requireCapability(id);
  return capability.inputRules(input as never, parts).map(({ field, message }) => `${field}: ${message}`);
};

describe("the value of an expression", () => {
  const id = "compute.math.numeric";
  it("is finite, has the asked decimals, and is that of a recomputation", async () => {
    expect(await rulesOf(id, { expression: "a + 1", vars: { a: 2 } })).to.deep.equal([]);
    expect(await rulesOf(id, { expression: "a + 1" })).to.deep.equal([
      "params.expression: has a, which is not known",
    ]);
    await holdRules(id, "is_finite", [
      [{}, { result: 0 }, undefined],
      [{}, { result: Number.NaN }, "is no finite number"],
    ]);
    await holdRules(id, "keeps_the_precision", [
      [{}, { result: 1 / 3 }, undefined],
      [{ precision: 2 }, { result: 0.33 }, undefined],
      [{ precision: 2 }, { result: 0.333 }, "has more than 2 decimals"],
      [{ precision: 0 }, { result: 0.5 }, "has more than 0 decimals"],
    ]);
    const expression = "1 / 8 + 1000 * a";
    const is = (result: number, said?: string, precision?: number): RuleCase => [
      { expression, vars: { a: 1 }, precision },
      { result },
      said,
    ];
    const wrong = "is not 1000.125";
    await holdRules(id, "matches_recomputation", [
      is(1000.125),
      is(1000.1250009),
      is(1000.1249991),
      is(1000.1250011, wrong),
      is(1000.1249989, wrong),
      is(1000.13, undefined, 2),
      is(1000.12, undefined, 2),
      is(1000.131, wrong, 2),
      is(1000, undefined, 0),
      is(1001, wrong, 0),
      is(-1000.125, wrong),
    ]);
    await holdRules(id, "matches_recomputation", [
      [{ expression: "10^16 + 0.3 - 10^16" }, { result: 1 }, undefined],
      [{ expression: "0.1 + 0.2" }, { result: 0.3 }, undefined],
    ]);
  });
});

describe("a statistic", () => {
  const data = [4, 1, 3, 2, 10];
  const wrong = (operation: string, numbers: number[], results: number[], first: number) =>
    holdRules(
      `compute.statistics.${operation}`,
      "matches_recomputation",
      results.map((result): RuleCase => [{ data: numbers }, { result }, `is not ${first}`]),
    );
  const right = (operation: string, numbers: number[], results: number[]) =>
    holdRules(
      `compute.statistics.${operation}`,
      "matches_recomputation",
      results.map((result): RuleCase => [{ data: numbers }, { result }, undefined]),
    );

  it("of a spread needs two numbers", async () => {
    for (const operation of ["variance", "stddev"])
      expect(await rulesOf(`compute.statistics.${operation}`, { data: [1] })).to.deep.equal([
        "params.data: must have at least 2 numbers",
      ]);
    expect(await rulesOf("compute.statistics.variance", { data: [1, 2] })).to.deep.equal([]);
    expect(await rulesOf("compute.statistics.mean", { data: [1] })).to.deep.equal([]);
  });

  it("lies in the bounds that its numbers give", async () => {
    for (const [operation, low, high] of [
      ["mean", 1, 10],
      ["median", 1, 10],
      ["percentile-95", 1, 10],
      ["stddev", 0, 9],
      ["variance", 0, 81],
    ] as const) {
      const said = `lies outside of ${low} to ${high}`;
      const slack = 1e-9 * high;
      await holdRules(`compute.statistics.${operation}`, "is_possible", [
        [{ data }, { result: low - 0.9 * slack }, undefined],
        [{ data }, { result: high + 0.9 * slack }, undefined],
        [{ data }, { result: low - slack }, undefined],
        [{ data }, { result: high + slack }, undefined],
        [{ data }, { result: low - 1.2 * slack }, said],
        [{ data }, { result: high + 1.2 * slack }, said],
        [{ data }, { result: Number.NaN }, said],
      ]);
    }
    await holdRules("compute.statistics.mean", "is_possible", [
      [{ data: [-50, -20] }, { result: -50 - 4e-8 }, undefined],
      [{ data: [-50, -20] }, { result: -50 - 6e-8 }, "lies outside of -50 to -20"],
      [{ data: [0, 0.1] }, { result: 0.1 + 0.9e-9 }, undefined],
      [{ data: [0, 0.1] }, { result: 0.1 + 1.1e-9 }, "lies outside of 0 to 0.1"],
    ]);
  });

  it("is the mean, the median, the deviation or the variance, of a population or of a sample", async () => {
    await right("mean", data, [4, 4 + 3e-9]);
    await wrong("mean", data, [4 + 5e-9, 3, 5], 4);
    await right("mean", [1e308, 1e308, 1e308], [1e308]);
    await wrong("mean", [1e308, 1e308, 1e308], [3e307], 1e308);
    await right("median", data, [3]);
    await right("median", [4, 1, 3, 2], [2.5]);
    await wrong("median", [4, 1, 3, 2], [2, 3], 2.5);
    await right("median", [5], [5]);
    await right("variance", data, [10, 12.5]);
    await wrong("variance", data, [Math.sqrt(10), 8, 50, 11], 10);
    await right("stddev", data, [Math.sqrt(10), Math.sqrt(12.5)]);
    await wrong("stddev", data, [10, 12.5, 3], Math.sqrt(10));
    await right("variance", [1e8 + 1, 1e8 + 2], [0.25, 0.5, 8]);
    await right("stddev", [1e8 + 1, 1e8 + 2], [0.5, 4.4]);
    await wrong("stddev", [1e8 + 1, 1e8 + 2], [4.7], 0.5);
    await right("mean", [1e9, -1e9, 0.375], [0.125, 0.125 + 2e-6]);
    await wrong("mean", [1e9, -1e9, 0.375], [0.125 + 4e-6], 0.125);
    await wrong("median", [1, 2, 1e15], [3], 2);
  });

  it("is the 95th percentile by one of the definitions in use", async () => {
    const twenty = Array.from({ length: 20 }, (_, at) => at + 1);
    await right("percentile-95", twenty, [19, 19.05, 19.95, 19.5, 19.65, 19.6125]);
    await right("percentile-95", twenty.slice(0, 15), [15, 14.25, 14.3, 14.75, 14.9, 14.8625]);
    await wrong("percentile-95", twenty.slice(0, 15), [14, 14.2, 14.5], 15);
    await wrong("percentile-95", twenty, [18.9, 19.02, 19.2, 20, 1], 19);
    await right("percentile-95", [5], [5]);
    await wrong("percentile-95", [1, 2], [1.5], 2);
  });
});

describe("a text as a vector", () => {
  const [id, known] = ["embed.text.my-model", "embed.text.hashed-ngrams-128"];
  const vector = (...numbers: number[]) => ({ vector: numbers, dim: numbers.length });
  it("has the dimension that it says, and that of its model", async () => {
    await holdRules(id, "has_the_declared_dimension", [
      [{}, vector(1, 2), undefined],
      [{}, { vector: [1], dim: 2 }, "has 1 numbers, and says 2"],
    ]);
    await holdRules(id, "is_not_zero", [
      [{}, vector(0, 1e-9), undefined],
      [{}, vector(0, 0), "is the zero vector"],
    ]);
    await holdRules(known, "has_the_dimension_of_its_model", [
      [{}, { dim: 128 }, undefined],
      [{}, { dim: 127 }, "has 127 dimensions, and hashed-ngrams-128 has 128"],
    ]);
    await holdRules(id, "has_the_dimension_of_its_model", [[{}, { dim: 7 }, undefined]]);
  });

  it("has the length 1 if its model makes such vectors", async () => {
    await holdRules(known, "has_the_length_of_its_model", [
      [{}, vector(0.6, 0.8), undefined],
      [{}, vector(0, 1.019), undefined],
      [{}, vector(0, 0.981), undefined],
      [{}, vector(0, 1.021), "has the length 1.021, not 1"],
      [{}, vector(0, 0.979), "has the length 0.979, not 1"],
    ]);
    await holdRules(id, "has_the_length_of_its_model", [
      [{}, vector(5), undefined],
      [{}, vector(999_999), undefined],
      [{}, vector(1e6), "has the length 1000000"],
      [{}, vector(Number.NaN), "has the length NaN"],
    ]);
  });

  it("is spread out, does not repeat itself, and has numbers of both signs", async () => {
    const upTo = (count: number) => Array.from({ length: count }, (_, at) => at + 1);
    const repeated = (count: number, distinct: number) =>
      vector(...Array.from({ length: count }, (_, at) => 1 + (at % distinct)));
    await holdRules(id, "is_spread_out", [
      [{}, vector(3, 3, 0.1), undefined],
      [{}, vector(7, 7, 0, 0), undefined],
      [{}, vector(3, 2.9), "has one number that makes up most of its length"],
      [{}, repeated(8, 2), undefined],
      [{}, vector(...Array(8).fill(1)), "has only 1 different numbers"],
      [{}, repeated(100, 16), undefined],
      [{}, repeated(100, 15), "has only 15 different numbers"],
    ]);
    await holdRules(id, "repeats_nothing", [
      [{}, vector(1, 2, 1, 2), "repeats itself every 2 numbers"],
      [{}, vector(1, 1, 1), "repeats itself every 1 numbers"],
      [{}, vector(1, 2, 1), undefined],
      [{}, vector(1, 2, 1, 2, 1), undefined],
      [{}, vector(1, 2, 1, 3), undefined],
      [{}, vector(1, 2), undefined],
      [{}, vector(5), undefined],
    ]);
    const one = "has numbers of one sign only";
    await holdRules(id, "has_both_signs", [
      [{}, vector(-1, ...upTo(19)), undefined],
      [{}, vector(-1, ...upTo(20)), one],
      [{}, vector(1, ...upTo(19).map((it) => -it)), undefined],
      [{}, vector(1, ...upTo(20).map((it) => -it)), one],
      [{}, vector(0, 0, 0, -1, ...upTo(19)), undefined],
      [{}, vector(0, 0, 0, 1, 2), one],
    ]);
  });
});

describe("a drawing", () => {
  const id = "image.generate.illustration.svg";
  const drawn = (contents: object) => ({ svg: { ...{ visible: 3, outside: 0, steps: 0 }, ...contents } });
  const said = (name: string, contents: object, complaint?: string, input: object = {}) =>
    holdRules(id, name, [[input, {}, complaint]], drawn(contents));
  it("shows something, in few enough paths, and runs nothing", async () => {
    await said("draws_something", { visible: 1 });
    await said("draws_something", { visible: 0 }, "has no shape that can be seen");
    await said("has_few_enough_paths", { paths: 9_999 });
    await said("has_few_enough_paths", { paths: 2 }, undefined, { max_paths: 2 });
    await said("has_few_enough_paths", { paths: 3 }, "has 3 paths, and at most 2 are allowed", {
      max_paths: 2,
    });
    await said("is_inert", { repeated: 20_000 });
    await said("is_inert", { repeated: 20_001 }, "draws 20001 shapes or more by references");
    await said("is_inert", { repeated: 0, active: "a script element" }, "contains a script element");
    await said("has_size", { hasSize: true });
    await said("has_size", { hasSize: false }, "has neither viewBox nor width and height");
    await said("is_well_drawn", { malformed: undefined });
    await said("is_well_drawn", { malformed: 'd="x"' }, 'contains d="x"');
  });

  it("is mostly in its frame, and has enough shapes for an illustration", async () => {
    await said("lies_in_its_frame", { visible: 0, outside: 0 });
    await said("lies_in_its_frame", { visible: 5, outside: 2 });
    await said(
      "lies_in_its_frame",
      { visible: 4, outside: 2 },
      "draws 2 of its 4 shapes outside of the picture",
    );
    const few = (visible: number) => `has too few shapes for an illustration: ${visible}`;
    const name = "is_an_illustration";
    await said(name, { visible: 3 });
    await said(name, { visible: 3 }, undefined, { max_paths: 10 });
    await said(name, { visible: 3, outside: 1 }, few(2));
    await said(name, { visible: 2, steps: 15 }, few(2));
    await said(name, { visible: 2, steps: 16 });
    await said(name, { visible: 2 }, undefined, { max_paths: 2 });
    await said(name, { visible: 1 }, few(1), { max_paths: 2 });
    await said(name, { visible: 1, steps: 2 }, undefined, { max_paths: 1 });
    await said(name, { visible: 1, steps: 1 }, few(1), { max_paths: 1 });
  });
});

describe("an enlarged picture", () => {
  const [white, blue] = [hex("#ffffff"), hex("#3366cc")];
  const png = (width: number, height: number) =>
    Buffer.from(encode({ width, height, data: new Uint8Array(width * height), channels: 1 })).toString(
      "base64",
    );
  const picture = (width: number, height: number, rgbAt: (x: number, y: number) => number) => ({
    picture: { width, height, rgbAt },
  });
  it("has two or four times the size, and not more pixels than can be decoded", async () => {
    expect(await rulesOf("image.upscale.4x", { image_b64: png(512, 256) })).to.deep.equal([]);
    expect(await rulesOf("image.upscale.2x", { image_b64: png(513, 256) })).to.deep.equal([]);
    expect(await rulesOf("image.upscale.4x", { image_b64: png(513, 256) })).to.deep.equal([
      `params.image_b64: would have more than ${MAX_PIXELS} pixels afterwards`,
    ]);
    expect(await rulesOf("image.upscale.2x", { image_b64: "x" })).to.deep.equal([
      "params.image_b64: is no base 64",
    ]);
    const input = { image_b64: png(10, 5) };
    const size = (id: string, width: number, height: number, said?: string) =>
      holdRules(
        id,
        "has_the_asked_size",
        [[input, {}, said]],
        picture(width, height, () => 0),
      );
    await size("image.upscale.2x", 20, 10);
    await size("image.upscale.4x", 40, 20);
    await size("image.upscale.4x", 20, 10, "is 20 × 10 after 10 × 5");
    await size("image.upscale.2x", 20, 11, "is 20 × 11 after 10 × 5");
    await size("image.upscale.2x", 21, 10, "is 21 × 10 after 10 × 5");
  });

  it("differs from the original by at most 14 of 255, on average over all blocks and channels", async () => {
    const canvas = new Canvas(4, 2, white).paint((x) => (x < 2 ? 1 : -1), blue);
    const input = { image_b64: Buffer.from(canvas.png()).toString("base64") };
    const shows = (rgbAt: (x: number, y: number) => number, said?: string) =>
      holdRules("image.upscale.2x", "shows_the_same", [[input, {}, said]], picture(8, 4, rgbAt));
    const same = (x: number) => (x < 4 ? 0x3366cc : 0xffffff);
    await shows(same);
    await shows((x) => same(x) - 0x0e0e0e);
    await shows((x) => same(x) - 0x0f0f0f, "differs from the original by 15");
    await shows((x) => same(x) - (x < 4 ? 0 : 0x1c1c1c));
    await shows((x) => same(x) - (x < 4 ? 0 : 0x1f1f1f), "differs from the original by 16");
    // Rows that differ in both directions have the right mean.
    await shows((x, y) => (x < 4 ? same(x) + (y % 2 === 0 ? 0x202020 : -0x202020) : same(x)));
    await shows((x) => same(7 - x), "differs from the original by 136");
  });

  it("is compared row by row, and at about 16,384 pixels of a large original", async () => {
    const shows = (
      canvas: Canvas,
      [width, height]: [number, number],
      rgbAt: (x: number, y: number) => number,
      said?: string,
    ) => {
      const input = { image_b64: Buffer.from(canvas.png()).toString("base64") };
      return holdRules(
        "image.upscale.2x",
        "shows_the_same",
        [[input, {}, said]],
        picture(width, height, rgbAt),
      );
    };
    const rows = new Canvas(4, 4, white).paint((_, y) => (y < 2 ? 1 : -1), blue);
    await shows(rows, [8, 8], (_, y) => (y < 4 ? 0x3366cc : 0xffffff));
    await shows(rows, [8, 8], (_, y) => (y < 4 ? 0xffffff : 0x3366cc), "differs from the original by 136");
    // Only every second pixel and row of the larger one are compared.
    const between = (x: number, y: number) => (x % 4 < 2 && y % 4 < 2 ? 0xffffff : 0);
    await shows(new Canvas(128, 128, white), [256, 256], between, "differs from the original by 191");
    await shows(new Canvas(129, 128, white), [258, 256], between);
  });
});
