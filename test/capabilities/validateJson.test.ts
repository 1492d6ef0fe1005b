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
});
