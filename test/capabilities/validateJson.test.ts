import { expect } from "chai";
import { validateJson } from "tallystick-capabilities/validateJson";

const schema = {
  type: "object",
  properties: { data: { type: "array", items: { type: "number" } }, "a/b": { type: "string" } },
  required: ["data"],
  additionalProperties: false,
};

describe("validateJson", () => {
  it("reports each fault once, with its field", () => {
    expect(validateJson(schema, { data: [1, "two"] }, "params").map(({ field }) => field)).to.deep.equal([
      "params.data.1",
    ]);
    expect(validateJson(schema, { data: [], "a/b": 1 }, "params").map(({ field }) => field)).to.deep.equal([
      "params.a/b",
    ]);
  });

  it("reports missing fields and unexpected fields", () => {
    expect(validateJson(schema, { date: [] }, "params")).to.deep.include({
      field: "params.date",
      message: "is not expected here",
    });
    expect(validateJson(schema, {}, "params")[0]?.message).to.contain('"data"');
    expect(validateJson(schema, undefined, "params")).to.deep.equal([
      { field: "params", message: "is required" },
    ]);
  });

  it("reports nothing for values that fit", () => {
    expect(validateJson(schema, { data: [1.5], "a/b": "c" }, "params")).to.deep.equal([]);
  });

  it("stops earlier if the caller allows fewer steps", () => {
    const values = Array.from({ length: 1_000 }, () => 1);
    const numbers = { items: { type: "number" } };
    expect(validateJson(numbers, values, "params", 10_000)).to.deep.equal([]);
    expect(validateJson(numbers, values, "params", 1_000)[0]?.message).to.contain("too many steps");
  });

  it("writes a constant into a fault only if somebody reads the fault", () => {
    let written = 0;
    const constant = {
      toJSON: () => {
        written++;
        return "a constant";
      },
    };
    const items = Array.from({ length: 100 }, () => 1);
    for (const part of [{ const: constant }, { enum: [constant] }])
      expect(validateJson({ contains: part }, items, "output")).to.have.lengthOf(1);
    expect(written).to.equal(0);
    expect(validateJson({ const: constant }, 1, "output")[0]?.message).to.equal('must be "a constant"');
  });
});
