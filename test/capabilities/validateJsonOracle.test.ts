import { type Schema, Validator } from "@cfworker/json-schema";
import { expect } from "chai";
import * as fc from "fast-check";
import { MAX_JSON_DEPTH } from "tallystick-capabilities/jsonSize";
import type { JsonSchema } from "tallystick-capabilities/schemaType";
import { validateJson } from "tallystick-capabilities/validateJson";

const key = fc.constantFrom("a", "b", "c", "toString");
const text = fc.constantFrom("", "a", "bb", "ccc", "\u{1F600}", "2026-02-30", "2026-02-28");
const whole = fc.integer({ min: 0, max: 3 });
const plain = fc.oneof(text, whole, fc.constantFrom(-1, 0.5, 1e9), fc.boolean(), fc.constant(null));
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    plain,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(key, tie("value"), { maxKeys: 3 }),
  ),
}));

const { schema } = fc.letrec<{ schema: JsonSchema }>((tie) => {
  const inner = fc.oneof({ depthSize: "small" }, fc.boolean(), tie("schema"));
  const several = fc.array(inner, { minLength: 1, maxLength: 3 });
  const named = fc.dictionary(key, inner, { maxKeys: 3 });
  const keyword: { [name: string]: fc.Arbitrary<unknown> } = {
    type: fc.oneof(
      fc.constantFrom("object", "array", "string", "number", "integer", "boolean", "null"),
      fc.constant(["string", "array"]),
    ),
    const: value,
    enum: fc.array(value, { minLength: 1, maxLength: 4 }),
    not: inner,
    anyOf: several,
    allOf: several,
    oneOf: several,
    if: inner,
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: inner,
    else: inner,
    required: fc.uniqueArray(key, { maxLength: 2 }),
    minProperties: whole,
    maxProperties: whole,
    propertyNames: inner,
    dependentRequired: fc.dictionary(key, fc.uniqueArray(key, { maxLength: 2 }), { maxKeys: 2 }),
    dependentSchemas: named,
    properties: named,
    patternProperties: fc.dictionary(fc.constantFrom("^a", "^[bc]$"), inner, { maxKeys: 2 }),
    additionalProperties: inner,
    minItems: whole,
    maxItems: whole,
    prefixItems: several,
    items: inner,
    contains: inner,
    minContains: whole,
    maxContains: whole,
    uniqueItems: fc.boolean(),
    minimum: whole,
    maximum: whole,
    exclusiveMinimum: whole,
    exclusiveMaximum: whole,
    multipleOf: fc.constantFrom(1, 2, 0.5),
    minLength: whole,
    maxLength: whole,
    pattern: fc.constantFrom("^a", "^[a-c]+$"),
    format: fc.constant("date"),
  };
  const chosen = fc.subarray(Object.keys(keyword), { minLength: 1, maxLength: 4 });
  return {
    schema: chosen.chain((names) =>
      fc.record(Object.fromEntries(names.map((name) => [name, keyword[name] as fc.Arbitrary<unknown>]))),
    ) as fc.Arbitrary<JsonSchema>,
  };
});

/**
 * Whether the two validators can be compared. The other validator has three errors. It finds the properties that every
 * object inherits. It refuses an empty list for `contains`, even with a minimum of 0. And for it an empty list equals an
 * empty object.
 */
const isComparable = (shape: JsonSchema, given: unknown): boolean => {
  const [asked, written] = [JSON.stringify(shape), `${JSON.stringify(shape)} ${JSON.stringify(given)}`];
  const hasEmpty = /"(const|enum|uniqueItems)"/.test(asked) && /\[\]|\{\}/.test(written);
  return !hasEmpty && !written.includes("toString") && !/"contains"|"__proto__"/.test(written);
};

describe("validateJson compared with another validator", () => {
  it("accepts and refuses the same values", () => {
    let [fitting, compared] = [0, 0];
    fc.assert(
      fc.property(schema, value, (shape, given) => {
        fc.pre(isComparable(shape, given));
        const other = new Validator(shape as Schema, "2020-12", true).validate(given).valid;
        const own = validateJson(shape, given, "value").length === 0;
        expect(own, JSON.stringify({ shape, given })).to.equal(other);
        compared++;
        if (own) fitting++;
      }),
      { numRuns: 4000, seed: 20261122, maxSkipsPerRun: 100 },
    );
    expect(fitting).to.be.within(compared / 20, (compared * 19) / 20);
  });

  it("counts the items that `contains` describes", () => {
    const contains = { contains: { const: 1 }, minContains: 0, maxContains: 2 };
    const fits = (shape: JsonSchema, given: unknown) => validateJson(shape, given, "value").length === 0;
    expect(fits({ contains: { const: 1 } }, [])).to.equal(false);
    expect(fits({ contains: { const: 1 } }, [2, 1])).to.equal(true);
    expect([[], [1, 1], [1, 1, 1]].map((given) => fits(contains, given))).to.deep.equal([true, true, false]);
  });

  it("knows only an object's own properties", () => {
    const [issue] = validateJson({ required: ["toString"] }, {}, "value");
    expect(issue?.message).to.equal('has no "toString"');
    const closed = { properties: {}, additionalProperties: false };
    expect(validateJson(closed, { constructor: 1 }, "value")).to.have.length(1);
  });
});

describe("validateJson with a stranger's value or schema", () => {
  it("limits the depth and the number of values, also for a circular value", () => {
    let deep: unknown = 0;
    for (let level = 0; level < 200_000; level++) deep = [deep];
    expect(validateJson({}, deep, "value")[0]?.message).to.contain(`${MAX_JSON_DEPTH} levels`);
    const circle: unknown[] = [];
    circle.push(circle);
    expect(validateJson({}, circle, "value")[0]?.message).to.contain("levels");
    let wide: unknown = [1];
    for (let level = 0; level < 40; level++) wide = [wide, wide];
    expect(validateJson({}, wide, "value")[0]?.message).to.contain("values in it");
  });

  it("finds a repeated item among a hundred thousand items, and reports at most twenty faults", () => {
    const many = Array.from({ length: 100_000 }, (_, at) => ({ at }));
    const unique = { type: "array", uniqueItems: true };
    expect(validateJson(unique, many, "value")).to.deep.equal([]);
    expect(validateJson(unique, [...many, { at: 7 }], "value")[0]?.message).to.equal(
      "has the same item twice",
    );
    expect(validateJson({ items: false }, many, "value")).to.have.length(20);
  });

  it("checks no condition of a value that already has twenty faults", () => {
    const required = Array.from({ length: 20 }, (_, at) => `missing ${at}`);
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    const long = { if: {}, then: { allOf: Array(100).fill(true) } };
    const issues = validateJson({ allOf: [{ required }, long] }, { a: 1 }, "value", 100);
    expect(issues.map(({ message }) => message)).to.deep.equal(required.map((name) => `has no "${name}"`));
    expect(validateJson(long, { a: 1 }, "value", 100), "else it does").to.have.length(1);
  });

  it("ends the check after a fixed number of steps", () => {
    const forms = Array.from({ length: 1000 }, (_, at) => ({ const: at }));
    const many = Array.from({ length: 100_000 }, () => 999);
    expect(validateJson({ items: { anyOf: forms } }, many.slice(0, 100), "value")).to.deep.equal([]);
    const [issue] = validateJson({ items: { anyOf: forms } }, many, "value");
    expect(issue).to.deep.equal({ field: "value", message: "would take too many steps to check" });
  });
});
