import { expect } from "chai";
import { requireCapability } from "tallystick-capabilities/capabilityOf";
import { MAX_PIXELS } from "tallystick-capabilities/checks/decodePicture";
import type { PictureMeasures } from "tallystick-capabilities/checks/measurePicture";
import { holdRules } from "./support/holdRules.ts";

/** Measures that every check accepts. */
const GOOD: PictureMeasures = {
  ...{ contrast: 50, colours: 100, commonest: 0.5, commonestEight: 0.85, roughness: 0.2, edges: 0.1 },
  ...{ emptyBand: 0.1, inkWidth: 0.9, inkHeight: 0.9, rowPatterns: 9 },
};
const said = (
  id: string,
  name: string,
  measures: Partial<PictureMeasures>,
  complaint?: string,
  input: object = {},
) => holdRules(id, name, [[input, {}, complaint]], { measures: { ...GOOD, ...measures } });
const rulesOf = async (id: string, input: object) => {
  const { capability, parts } = await requireCapability(id);
  return capability.inputRules(input as never, parts).map(({ field, message }) => `${field}: ${message}`);
};

describe("a picture of a chart", () => {
  const id = "chart.generate.from-data";
  it("has an input that can be drawn: at most two million pixels, and no negative slice", async () => {
    const [size, data] = [
      { width: 64, height: 64 },
      [
        { x: "a", y: 1 },
        { x: "b", y: -1 },
      ],
    ];
    expect(await rulesOf(id, { ...size, data, chart_type: "bar" })).to.deep.equal([]);
    expect(await rulesOf(id, { ...size, data: [{ x: "a", y: 0 }], chart_type: "pie" })).to.deep.equal([]);
    expect(await rulesOf(id, { ...size, data, chart_type: "pie" })).to.deep.equal([
      "params.data: must have no negative y in a pie",
    ]);
    expect(await rulesOf(id, { width: 2_048, height: 1_025, data, chart_type: "bar" })).to.deep.equal([
      `params.height: must be smaller: at most ${MAX_PIXELS} pixels in all`,
    ]);
  });

  it("is of the asked type, on a plain ground, across the picture", async () => {
    await holdRules(id, "is_asked_type", [
      [{ chart_type: "bar" }, { chart_type: "bar" }, undefined],
      [{ chart_type: "bar" }, { chart_type: "pie" }, "is a pie, not a bar"],
    ]);
    const ground = "lacks the plain background and the few colours of a chart";
    await said(id, "is_drawn", { commonest: 0.2, commonestEight: 0.8 });
    await said(id, "is_drawn", { commonest: 0.19 }, ground);
    await said(id, "is_drawn", { commonestEight: 0.79 }, ground);
    const empty = "has almost nothing drawn on it";
    await said(id, "is_across_the_chart", { commonest: 0.985, inkWidth: 0.35, inkHeight: 0.35 });
    await said(id, "is_across_the_chart", { commonest: 0.986 }, empty);
    await said(id, "is_across_the_chart", { inkWidth: 0.34 }, empty);
    await said(id, "is_across_the_chart", { inkHeight: 0.34 }, empty);
  });

  it("has as many patterns of rows as different values, up to three", async () => {
    const none = "has no series between its axes";
    for (const [values, wanted] of [
      [[10, 10], 1],
      [[0, 0], 1],
      [[10, -10], 2],
      [[10, 8.9], 2],
      [[10, 9.1], 1],
      [[10, 5, 0], 3],
      [[10, 8, 6, 4, 2, 0], 3],
      [[1, 0.5], 2],
      [[10, 9.5, 0.1], 2],
    ] as const) {
      const input = { data: values.map((y) => ({ x: "a", y })) };
      await said(id, "has_series", { rowPatterns: wanted }, undefined, input);
      await said(id, "has_series", { rowPatterns: wanted - 1 }, none, input);
    }
  });
});

describe("a generated picture", () => {
  const [drawing, photograph] = ["image.generate.illustration.png", "image.generate.photorealistic.png"];
  it("of a drawing has shapes, and is finished", async () => {
    const [shapes, unfinished] = ["has no shapes in it, or no colours", "is empty over most of its height"];
    await said(drawing, "has_shapes", { edges: 0.004, colours: 3 });
    await said(drawing, "has_shapes", { edges: 0.0039 }, shapes);
    await said(drawing, "has_shapes", { colours: 2 }, shapes);
    await said(drawing, "is_finished", { emptyBand: 0.6, inkWidth: 0.2, inkHeight: 0.2 });
    await said(drawing, "is_finished", { emptyBand: 0.61 }, unfinished);
    await said(drawing, "is_finished", { inkWidth: 0.19 }, unfinished);
    await said(drawing, "is_finished", { inkHeight: 0.19 }, unfinished);
  });

  it("of a photograph has gradations and detail, and is finished", async () => {
    const flat = "has the few flat colours of a drawing";
    await said(photograph, "has_gradation", { colours: 24, commonestEight: 0.9 });
    await said(photograph, "has_gradation", { colours: 23 }, flat);
    await said(photograph, "has_gradation", { commonestEight: 0.91 }, flat);
    await said(photograph, "has_detail", { edges: 0.001 });
    await said(photograph, "has_detail", { edges: 0.0009 }, "has no edges: a gradient");
    await said(photograph, "is_finished", { emptyBand: 0.4 });
    await said(photograph, "is_finished", { emptyBand: 0.41 }, "is empty over a large part of its height");
  });

  it("is neither blank nor noise", async () => {
    for (const id of [drawing, photograph]) {
      const blank = "shows nothing: one tone throughout";
      await said(id, "is_not_blank", { contrast: 1.9, colours: 3 }, blank);
      await said(id, "is_not_blank", { contrast: 2, colours: 3 });
      await said(id, "is_not_blank", { contrast: 1.9, colours: 4 });
      await said(id, "is_not_noise", { roughness: 0.8 });
      const noise = "is noise: neighbouring pixels differ by 0.81 times the contrast";
      await said(id, "is_not_noise", { roughness: 0.81 }, noise);
    }
  });
});
