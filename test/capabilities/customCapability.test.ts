import { expect } from "chai";
import {
  checkCustomInput,
  MAX_SCHEMA_LENGTH,
  readCustomSchemas,
  verifyCustomOutput,
} from "tallystick-capabilities/customCapability";
import { TallystickError } from "tallystick-protocol/errors";

const id = "custom.acme.ocr";
const input = {
  type: "object",
  properties: { page: { type: "integer", minimum: 1 }, language: { type: "string", pattern: "^[a-z]{2}$" } },
  required: ["page"],
};
const output = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };

function codeOf(value: unknown, capability = id): string {
  try {
    readCustomSchemas(capability, value);
  } catch (error) {
    expect(error).to.be.instanceOf(TallystickError);
    return (error as TallystickError).code;
  }
  return "none";
}
const withInput = (schema: unknown): unknown => ({ input: schema, output });

describe("a custom capability", () => {
  it("is checked with the seller's schemas: the params before the payment, the result after it", () => {
    const schemas = readCustomSchemas(id, { input, output });
    expect(() => checkCustomInput(schemas, { page: 3, language: "it" })).not.to.throw();
    expect(() => checkCustomInput(schemas, { page: 0 })).to.throw("params.page");
    expect(verifyCustomOutput(schemas, { text: "x" })).to.deep.equal({
      all_passed: true,
      checks: { matches_schema: true },
      details: {},
    });
    const failed = verifyCustomOutput(schemas, {});
    expect(failed.all_passed).to.equal(false);
    expect(failed.details.matches_schema).to.contain("text");
  });

  it("may name its schemas as input_schema and output_schema", () => {
    expect(codeOf({ input_schema: input, output_schema: output })).to.equal("none");
  });

  it("must have an id that begins with custom.", () => {
    for (const other of ["text.sing.it", "customs.acme.ocr", "custom"]) {
      expect(codeOf({ input, output }, other)).to.equal("unknown_capability");
    }
  });

  it("is refused when it does not have two valid schemas", () => {
    for (const value of [null, "schema", [], {}, { input }, { input: true, output }, { input: [], output }]) {
      expect(codeOf(value)).to.equal("invalid_schema");
    }
  });

  it("is refused when its schemas have references", () => {
    expect(codeOf(withInput({ $ref: "#" }))).to.equal("invalid_schema");
    expect(codeOf(withInput({ properties: { a: { $ref: "https://evil.example/s.json" } } }))).to.equal(
      "invalid_schema",
    );
    expect(codeOf(withInput({ $id: "https://evil.example/" }))).to.equal("invalid_schema");
  });

  it("is refused when its regular expressions may run for a long time", () => {
    for (const pattern of [
      "^(a+)+$",
      "(x|xx)*y",
      "a*a*b",
      "^a*b*c*$",
      "\\1",
      "^.*.*=.*$",
      "^a{1,99999}$",
      "[a-z]+@",
      "^a{0,999}a{0,999}b",
      `^${"a?".repeat(9)}b`,
      "^a{1,20}a{1,20}$",
      "^a{1000}",
      "^\\p{L}+\\p{L}*$",
    ]) {
      expect(codeOf(withInput({ type: "string", pattern })), pattern).to.equal("invalid_schema");
      expect(codeOf(withInput({ patternProperties: { [pattern]: {} } })), pattern).to.equal("invalid_schema");
    }
    for (const pattern of [
      "^[a-z]{2}$",
      "^\\d+$",
      "^https:\\/\\/[a-z.]+$",
      "^[(|)]$",
      "^\\p{L}+$",
      "^\\d{1,3}\\.\\d{1,6}$",
    ]) {
      expect(codeOf(withInput({ type: "string", pattern })), pattern).to.equal("none");
    }
    expect(codeOf(withInput({ type: "string", format: "uri-template" }))).to.equal("invalid_schema");
  });

  it("is refused when its schemas are too large or too deep, or have an unknown or invalid keyword", () => {
    expect(codeOf(withInput({ title: "x".repeat(MAX_SCHEMA_LENGTH) }))).to.equal("invalid_schema");
    let deep: unknown = {};
    for (let level = 0; level < 40; level++) deep = { not: deep };
    expect(codeOf(withInput(deep))).to.equal("invalid_schema");
    let endless: unknown = {};
    for (let level = 0; level < 100_000; level++) endless = [endless];
    expect(codeOf(withInput({ default: endless }))).to.equal("invalid_schema");
    for (const schema of [
      { type: "string", pattern: "^[" },
      { properties: { a: { pattern: "^[" } } },
      { type: "text" },
      { pattern: 1 },
      { items: [{}] },
      { properties: [] },
      { unevaluatedProperties: false },
    ]) {
      expect(codeOf(withInput(schema)), JSON.stringify(schema)).to.equal("invalid_schema");
    }
  });

  it("may need some properties together, whatever their names are", () => {
    const dependentRequired = { contains: ["x"], items: ["y"], pattern: ["z"] };
    expect(codeOf(withInput({ dependentRequired }))).to.equal("none");
    const schemas = readCustomSchemas(id, withInput({ dependentRequired }));
    expect(() => checkCustomInput(schemas, { items: 1, y: 1 })).not.to.throw();
    expect(() => checkCustomInput(schemas, { items: 1 })).to.throw();
  });

  it("is refused when something stands where a schema must stand", () => {
    for (const schema of [
      { properties: { a: 5 } },
      { patternProperties: { "^a": "b" } },
      { dependentSchemas: { a: null } },
      { items: "a" },
      { contains: 1 },
      { additionalProperties: [] },
      { propertyNames: null },
      { not: "a" },
      { if: 1 },
      { allOf: [{}, 5] },
      { properties: { a: { anyOf: [[]] } } },
      { prefixItems: ["a"] },
    ]) {
      expect(codeOf(withInput(schema)), JSON.stringify(schema)).to.equal("invalid_schema");
    }
    const good = {
      properties: { a: true },
      items: false,
      not: {},
      allOf: [true, {}],
      additionalProperties: false,
    };
    expect(codeOf(withInput(good))).to.equal("none");
  });

  it("counts what a pattern compares, because a long rest may be tried again at every character", () => {
    const check = (pattern: string, text: string) => () =>
      checkCustomInput(readCustomSchemas(id, withInput({ pattern })), text);
    const slow = `^${"[^]?".repeat(8)}[^]*[^]{999}[^\\s\\S]`;
    expect(check(slow, "a".repeat(2_000))).to.throw("too many steps");
    expect(check(slow, "a")).to.throw("must match");
    for (const [pattern, text] of [
      ["^[^]+$", "a".repeat(1_000_000)],
      ["^[^@]{1,64}@[a-z.]+$", `${"a".repeat(64)}@${"b".repeat(10_000)}`],
      [
        "^data:image\\/png;base64,[A-Za-z0-9+\\/]*={0,2}$",
        `data:image/png;base64,${"A".repeat(1_000_000)}==`,
      ],
    ] as const)
      expect(check(pattern, text), pattern).not.to.throw();
    const many = { items: { pattern: "^[a-z]{2,64}$" } };
    const words = Array.from({ length: 10_000 }, () => "considerably");
    expect(() => checkCustomInput(readCustomSchemas(id, withInput(many)), words)).not.to.throw();
  });

  it("counts the names of properties, and conditions that do not apply", () => {
    const slow: [what: string, schema: object, value: unknown][] = [
      [
        "names",
        { anyOf: Array.from({ length: 600 }, () => ({ maxProperties: 0 })) },
        Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`key ${at}`, 1])),
      ],
      [
        "constants",
        { enum: Array.from({ length: 2_500 }, () => ({})) },
        Object.fromEntries(Array.from({ length: 3_000 }, (_, at) => [`key ${at}`, 1])),
      ],
      [
        "conditions",
        {
          items: {
            dependentRequired: Object.fromEntries(Array.from({ length: 3_000 }, (_, at) => [`k${at}`, []])),
          },
        },
        Array.from({ length: 10_000 }, () => ({})),
      ],
    ];
    for (const [what, schema, value] of slow) {
      const { details } = verifyCustomOutput(readCustomSchemas(id, { input: {}, output: schema }), value);
      expect(details.matches_schema, what).to.contain("too many steps");
    }
  });

  it("may have a field with the name of a keyword", () => {
    const named = { properties: { pattern: { type: "string" }, format: { type: "string" }, $id: {} } };
    expect(codeOf(withInput(named))).to.equal("none");
    expect(codeOf(withInput({ enum: [{ pattern: "((" }] }))).to.equal("none");
  });
});
