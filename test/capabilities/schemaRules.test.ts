import { expect } from "chai";
import { hasFormat } from "tallystick-capabilities/jsonFormats";
import { jsonSizeProblem, MAX_JSON_DEPTH, MAX_JSON_VALUES } from "tallystick-capabilities/jsonSize";
import { patternProblem, patternWork } from "tallystick-capabilities/patternProblem";
import type { JsonSchema } from "tallystick-capabilities/schemaType";
import { validateJson } from "tallystick-capabilities/validateJson";

/** A schema, a value, and what is wrong, as `field: message`. */
type Case = [schema: JsonSchema, value: unknown, ...faults: string[]];

function hold(cases: readonly Case[]): void {
  for (const [schema, value, ...faults] of cases) {
    const found = validateJson(schema, value, "v").map(({ field, message }) => `${field}: ${message}`);
    expect(found, JSON.stringify([schema, value])).to.deep.equal(faults);
  }
}

/** A condition of a schema. */
const condition = (test: unknown, fits: unknown, other?: unknown): JsonSchema =>
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  ({ if: test, then: fits, else: other });

const smile = "\u{1F600}";

let used = 0;
/** A pattern that was never compiled before, with one more letter in its class. */
const fresh = (pattern: string): string => pattern.replace("[", `[${String.fromCodePoint(0x4e00 + used++)}`);

describe("a keyword of a schema says exactly what is wrong", () => {
  it("about the type", () => {
    const types: [type: string, fits: unknown[], others: unknown[]][] = [
      ["null", [null], [0, "", false, {}, []]],
      ["array", [[], [1]], [{}, null, "a"]],
      ["object", [{}], [[], null, "object"]],
      ["integer", [0, -1, 5.0], [0.5, "1", null, Number.NaN, Number.POSITIVE_INFINITY]],
      ["number", [0, 0.5], ["1", null, Number.NaN, Number.POSITIVE_INFINITY]],
      ["string", ["", "a"], [1, null, [], {}, true]],
      ["boolean", [true, false], [0, "true", null]],
      ["function", [], ["function", () => 1]],
    ];
    for (const [type, fits, others] of types) {
      hold(fits.map((value): Case => [{ type }, value]));
      hold(others.map((value): Case => [{ type }, value, `v: must be ${type}`]));
    }
    hold([
      [{ type: ["string", "null"] }, "a"],
      [{ type: ["string", "null"] }, null],
      [{ type: ["string", "null"] }, 5, "v: must be string or null"],
      [{ type: [] }, 5, "v: must be "],
    ]);
  });

  it("about constants and lists of values", () => {
    const many = Array.from({ length: 50 }, (_, at) => at);
    hold([
      [{ const: { a: [1, { b: null }] } }, { a: [1, { b: null }] }],
      [{ const: { a: 1, b: 2 } }, { b: 2, a: 1 }],
      [{ const: { a: 1 } }, { a: 2 }, 'v: must be {"a":1}'],
      [{ const: { a: 1 } }, { a: 1, b: 1 }, 'v: must be {"a":1}'],
      [{ const: { a: 1, b: 1 } }, { a: 1, c: 1 }, 'v: must be {"a":1,"b":1}'],
      [{ const: { toString: 1 } }, { a: 1 }, 'v: must be {"toString":1}'],
      [{ const: { length: 0 } }, [], 'v: must be {"length":0}'],
      [{ const: {} }, [], "v: must be {}"],
      [{ const: {} }, null, "v: must be {}"],
      [{ const: [] }, {}, "v: must be []"],
      [{ const: [1, 2] }, [1], "v: must be [1,2]"],
      [{ const: [1] }, [1, 2], "v: must be [1]"],
      [{ const: [1, 2] }, [2, 1], "v: must be [1,2]"],
      [{ const: ["a"] }, "a", 'v: must be ["a"]'],
      [{ const: null }, null],
      [{ const: null }, {}, "v: must be null"],
      [{ const: "1" }, 1, 'v: must be "1"'],
      [{ const: undefined }, 1, "v: must be undefined"],
      [{ const: "x".repeat(200) }, 1, `v: must be "${"x".repeat(99)}`],
      [{ enum: [1, "a", null] }, null],
      [{ enum: [1, "a", null] }, "a"],
      [{ enum: [1, "a", null] }, "1", 'v: must be one of 1, "a", null'],
      [{ enum: [{ a: 1 }, [1]] }, { a: 1 }],
      [{ enum: [{ a: 1 }, [1]] }, [1]],
      [{ enum: [{ a: 1 }, [1]] }, { a: 2 }, 'v: must be one of {"a":1}, [1]'],
      [{ enum: many }, 50, `v: must be one of ${many.slice(0, 40).join(", ")}`],
      [{ enum: "abc" }, "d"],
    ]);
    const kept = { enum: [1] };
    hold([
      [kept, 1],
      [kept, 2, "v: must be one of 1"],
      [kept, 1],
    ]);
  });

  it("about forms together", () => {
    const [number, text] = [{ type: "number" }, { type: "string" }];
    const more = { minimum: 5 };
    hold([
      [{ allOf: [number, more] }, 5],
      [{ allOf: [number, more] }, 4, "v: must be at least 5"],
      [{ allOf: [more, number] }, 4, "v: must be at least 5"],
      [{ allOf: [{ minimum: 6 }, { minimum: 5 }] }, 4, "v: must be at least 6", "v: must be at least 5"],
      [{ anyOf: [text, more] }, 5],
      [{ anyOf: [text, more] }, 4, "v: fits none of the forms that are allowed"],
      [{ anyOf: [] }, 4, "v: fits none of the forms that are allowed"],
      [{ anyOf: [{}] }, true],
      [{ anyOf: [{}] }, null],
      [{ oneOf: [text, number] }, 4],
      [{ oneOf: [more, number, text] }, 5, "v: fits 2 of the allowed forms, and must fit exactly one"],
      [{ oneOf: [text, more] }, 4, "v: fits 0 of the allowed forms, and must fit exactly one"],
      [{ not: text }, 4],
      [{ not: number }, 4, "v: has a form that is excluded"],
      [{ not: true }, 4, "v: has a form that is excluded"],
      [{ not: false }, 4],
      [condition(number, more, text), 5],
      [condition(number, more, text), 4, "v: must be at least 5"],
      [condition(number, more, text), "a"],
      [condition(number, more, text), null, "v: must be string"],
      [{ if: number }, null],
      [condition(undefined, false, false), 5],
      // After a quiet look, faults are reported again.
      [{ anyOf: [text, number], minimum: 5 }, 4, "v: must be at least 5"],
      [{ allOf: "x", anyOf: "x", oneOf: "x" }, 4],
    ]);
    // A fault of one part counts, also if another part holds.
    hold([
      [{ allOf: [more], anyOf: [number] }, 4, "v: must be at least 5"],
      [{ oneOf: [text], not: text }, 4, "v: fits 0 of the allowed forms, and must fit exactly one"],
      [{ anyOf: [text], ...condition(true, true) }, 4, "v: fits none of the forms that are allowed"],
    ]);
    expect(validateJson({ not: { anyOf: [text], ...condition(true, true) } }, 4, "v")).to.deep.equal([]);
    expect(validateJson({ not: { allOf: [more, number] } }, 4, "v")).to.deep.equal([]);
    expect(validateJson({ not: condition(true, more) }, 4, "v")).to.deep.equal([]);
  });

  it("about texts, whose characters are counted and not their halves", () => {
    hold([
      [{ maxLength: 2 }, "ab"],
      [{ maxLength: 2 }, "abc", "v: must have at most 2 characters"],
      [{ maxLength: 2 }, smile.repeat(2)],
      [{ maxLength: 2 }, smile.repeat(3), "v: must have at most 2 characters"],
      [{ maxLength: 0 }, ""],
      [{ maxLength: "2" }, "abc"],
      [{ minLength: 2 }, "ab"],
      [{ minLength: 2 }, "a", "v: must have at least 2 characters"],
      [{ minLength: 2 }, smile, "v: must have at least 2 characters"],
      [{ minLength: 2 }, smile.repeat(2)],
      [{ minLength: 3 }, `a${smile}`, "v: must have at least 3 characters"],
      [{ minLength: "2" }, "a"],
      [{ minLength: 5, maxLength: 5 }, 1],
      [{ pattern: "^a" }, "ab"],
      [{ pattern: "^a" }, "ba", "v: must match ^a"],
      [{ pattern: fresh(`^[${smile}]$`) }, smile],
      [{ pattern: `^${"a".repeat(120)}` }, "b", `v: must match ^${"a".repeat(99)}`],
      [{ pattern: 5 }, "b"],
      [{ format: "date" }, "2028-02-29"],
      [{ format: "date" }, "2026-02-29", "v: must be a date"],
      [{ format: "other" }, "2026-02-29"],
      [{ format: 5 }, "a"],
      [{ format: ["date"] }, "a"],
    ]);
  });

  it("about numbers", () => {
    hold([
      [{ minimum: 5 }, 5],
      [{ minimum: 5 }, 4.9, "v: must be at least 5"],
      [{ maximum: 5 }, 5],
      [{ maximum: 5 }, 5.1, "v: must be at most 5"],
      [{ exclusiveMinimum: 5 }, 5.1],
      [{ exclusiveMinimum: 5 }, 5, "v: must be more than 5"],
      [{ exclusiveMaximum: 5 }, 4.9],
      [{ exclusiveMaximum: 5 }, 5, "v: must be less than 5"],
      [{ minimum: "5", maximum: "3", exclusiveMinimum: "5", exclusiveMaximum: "3" }, 4],
      [{ minimum: 5, maximum: 3 }, "4"],
      [{ multipleOf: 0.1 }, 0.3],
      [{ multipleOf: 0.1 }, 0.35, "v: must be a multiple of 0.1"],
      [{ multipleOf: 3 }, -6],
      [{ multipleOf: 3 }, 0],
      [{ multipleOf: 3 }, 7, "v: must be a multiple of 3"],
      [{ multipleOf: 3 }, 8, "v: must be a multiple of 3"],
      [{ multipleOf: 0 }, 7],
      [{ multipleOf: "3" }, 7],
      // A billionth of the quotient, or of one if the quotient is less, may be an error of rounding.
      [{ multipleOf: 1 }, 1e6 + 0.000_9],
      [{ multipleOf: 1 }, 1e6 + 0.001_1, "v: must be a multiple of 1"],
      [{ multipleOf: 1 }, 1e-9],
      [{ multipleOf: 1 }, 1.1e-9, "v: must be a multiple of 1"],
      [{ multipleOf: 1 }, -1e6 - 0.000_9],
    ]);
  });

  it("about lists", () => {
    const number = { type: "number" };
    hold([
      [{ maxItems: 1 }, [1]],
      [{ maxItems: 1 }, [1, 2], "v: must have at most 1 items"],
      [{ minItems: 2 }, [1, 2]],
      [{ minItems: 2 }, [1], "v: must have at least 2 items"],
      [{ maxItems: "0", minItems: "5" }, [1]],
      [{ maxItems: 0, items: number }, ["a"], "v: must have at most 0 items"],
      [{ items: number }, [1, "a", 2, "b"], "v.1: must be number", "v.3: must be number"],
      [{ prefixItems: [number, true] }, ["a", "b", "c"], "v.0: must be number"],
      [{ prefixItems: [true], items: number }, ["a", 1, "b"], "v.2: must be number"],
      [{ prefixItems: 5, items: number }, ["a"], "v.0: must be number"],
      [{ contains: number }, ["a", 1]],
      [{ contains: number }, ["a"], "v: has 0 items of the kind that is counted"],
      [{ contains: number, minContains: 0 }, []],
      [{ contains: number, minContains: 2 }, [1, 2]],
      [{ contains: number, minContains: 2 }, [1], "v: has 1 items of the kind that is counted"],
      [{ contains: number, maxContains: 1 }, [1]],
      [{ contains: number, maxContains: 1 }, [1, 2], "v: has 2 items of the kind that is counted"],
      [{ contains: number, minContains: "2", maxContains: "0" }, [1]],
      [{ minContains: 5 }, []],
      [{ uniqueItems: true }, [1, "1", null, "null", true, [1], ["1"], [[1]], {}, [], { a: 1 }, { b: 1 }]],
      [{ uniqueItems: true }, [{ a: 1, b: 2 }, { a: 2, b: 1 }, [1, 2], [2, 1], [12], ["1,2"]]],
      [{ uniqueItems: true }, [1, 1], "v: has the same item twice"],
      [{ uniqueItems: true }, [{ a: 1, b: [2] }, 5, { b: [2], a: 1 }], "v: has the same item twice"],
      [{ uniqueItems: false }, [1, 1]],
      [{ uniqueItems: "true" }, [1, 1]],
      [{ uniqueItems: true, items: number }, ["a", "b"], "v.0: must be number", "v.1: must be number"],
      [{ items: number, contains: true }, ["a"], "v.0: must be number"],
    ]);
    // A fault in one item counts, also where faults are not reported.
    hold([
      [{ not: { items: number, contains: true, uniqueItems: true } }, ["a"]],
      [{ not: { prefixItems: [number, true] } }, ["a", 1]],
      [{ not: { contains: number, uniqueItems: true } }, ["a"]],
      [{ anyOf: [{ items: number, contains: true, uniqueItems: true }] }, [1, 2]],
      [{ anyOf: [{ type: "array" }] }, []],
    ]);
  });

  it("about objects", () => {
    const number = { type: "number" };
    const one = { a: 1 };
    hold([
      [{ maxProperties: 1 }, one],
      [{ maxProperties: 0 }, one, "v: must have at most 0 properties"],
      [{ minProperties: 1 }, one],
      [{ minProperties: 2 }, one, "v: must have at least 2 properties"],
      [{ maxProperties: "0", minProperties: "5", required: "b" }, one],
      [{ required: ["a", "b", "c"] }, one, 'v: has no "b"', 'v: has no "c"'],
      [{ required: ["b".repeat(150)] }, one, `v: has no "${"b".repeat(100)}"`],
      [{ required: ["b", "a"] }, one, 'v: has no "b"'],
      [{ dependentRequired: { a: ["b"], c: ["d"] } }, one, 'v: has no "b"'],
      [{ dependentRequired: { toString: ["b"] } }, one],
      [{ dependentRequired: ["b"] }, one],
      [{ dependentSchemas: { a: { maxProperties: 0 }, c: false } }, one, "v: must have at most 0 properties"],
      [{ dependentSchemas: { toString: false } }, one],
      [
        { properties: { a: number, b: number } },
        { a: "x", b: "y", c: "z" },
        "v.a: must be number",
        "v.b: must be number",
      ],
      [{ properties: { toString: false } }, one],
      [{ properties: "abc", additionalProperties: number }, { 0: "x" }, "v.0: must be number"],
      [{ patternProperties: { "^a": number } }, { ab: "x", b: "y" }, "v.ab: must be number"],
      [
        { properties: { a: true }, patternProperties: { "^b": true }, additionalProperties: number },
        { a: "x", b: "y", c: "z" },
        "v.c: must be number",
      ],
      [
        { properties: { a: number }, patternProperties: { "^a": { minimum: 5 } } },
        one,
        "v.a: must be at least 5",
      ],
      [{ additionalProperties: false }, one, "v.a: is not expected here"],
      [{ propertyNames: { maxLength: 1 } }, { a: 1, bb: 2 }, "v.bb: has a name that is not allowed"],
      [
        { propertyNames: false, properties: { a: number } },
        { a: "x" },
        "v.a: must be number",
        "v.a: has a name that is not allowed",
      ],
      [{ properties: { a: { properties: { b: number } } } }, { a: { b: "x" } }, "v.a.b: must be number"],
      [
        { properties: { a: { propertyNames: false }, c: number } },
        { a: { b: 1 }, c: "x" },
        "v.a.b: has a name that is not allowed",
        "v.c: must be number",
      ],
    ]);
    // A fault in one property counts, also where faults are not reported.
    const two = { a: "x", b: 1 };
    hold([
      [{ not: { properties: { a: number } } }, two],
      [{ anyOf: [{ properties: { b: number }, required: ["a"], propertyNames: true }] }, two],
      [{ not: { patternProperties: { "^a": number, "^.": true } } }, two],
      [{ not: { additionalProperties: number } }, two],
      [{ not: { propertyNames: { const: "b" } } }, two],
      [{ not: { required: ["c", "a"] } }, two],
      [{ not: { dependentSchemas: { a: false, b: true } } }, two],
      [{ not: { dependentSchemas: { a: false } } }, {}, "v: has a form that is excluded"],
    ]);
  });

  it("and reports at most twenty faults, of items and of properties", () => {
    const items = Array.from({ length: 30 }, () => "a");
    const names = Object.fromEntries(items.map((_, at) => [`k${at}`, 1]));
    const fields = (schema: JsonSchema, value: unknown, steps?: number) =>
      validateJson(schema, value, "v", steps).map(({ field }) => field);
    const twenty = Array.from({ length: 20 }, (_, at) => at);
    expect(fields({ items: false }, items)).to.deep.equal(twenty.map((at) => `v.${at}`));
    expect(fields({ additionalProperties: false }, names)).to.deep.equal(twenty.map((at) => `v.k${at}`));
    expect(fields({ required: items.map((_, at) => `r${at}`) }, {})).to.have.lengthOf(20);
    // After the twentieth fault nothing more is compared.
    expect(fields({ items: false }, items, 21)).to.have.lengthOf(20);
    expect(fields({ additionalProperties: false }, names, 51)).to.have.lengthOf(20);
  });

  it("and throws for a schema that is none, which is a mistake of its author", () => {
    for (const schema of [{ items: "x" }, { items: 5 }, { items: null }, { items: [] }] as JsonSchema[])
      expect(() => validateJson(schema, [1], "v"), JSON.stringify(schema)).to.throw(
        "a schema must be an object, true or false",
      );
    expect(() => validateJson({ pattern: "(" }, "a", "v")).to.throw(SyntaxError);
  });
});

describe("the steps of a check", () => {
  /** Expects that a check takes exactly so many steps. */
  const takes = (steps: number, schema: JsonSchema, value: unknown): void => {
    const found = (most: number) => validateJson(schema, value, "v", most).map(({ message }) => message);
    const what = JSON.stringify([schema, value]).slice(0, 200);
    expect(found(steps), what).not.to.include("would take too many steps to check");
    expect(found(steps - 1 / 1024), what).to.deep.equal(["would take too many steps to check"]);
  };

  it("are one for a schema, a type, a name of a property and a comparison", () => {
    takes(1, {}, 5);
    takes(2, { type: "number" }, 5);
    takes(3, { type: ["string", "number"] }, 5);
    takes(3, { type: ["number", "string"] }, 5);
    takes(2, { const: 5 }, 5);
    takes(1, { enum: [1, 2, 5] }, 5);
    takes(1, { enum: [1, null] }, null);
    takes(3, {}, { a: 1, b: 2 });
    takes(1, {}, [1, 2]);
    takes(3, { items: {} }, [1, 2]);
    takes(3, { items: true }, [1, 2]);
    takes(4, { prefixItems: [true], items: true }, [1, 2, 3]);
    takes(2, { prefixItems: [true] }, [1, 2, 3]);
    takes(3, { required: ["a"] }, { a: 1 });
    takes(3, { properties: { a: true, b: true } }, { a: 1 });
    takes(3, { additionalProperties: true }, { a: 1 });
    takes(3, { propertyNames: true }, { a: 1 });
  });

  it("are one for each of two constants that are compared, and for their names", () => {
    takes(2 + 2 + 1 + 1, { const: { a: 1 } }, { a: 1 });
    takes(2 + 3, { const: { a: 1 } }, { b: 1, c: 2 });
    takes(2 + 2, { const: [1, 2] }, [1, 2]);
    takes(2 + 1, { const: [1, 2] }, [2, 1]);
    takes(2, { const: [1] }, [1, 2]);
    takes(1 + 1 + 1, { enum: [[1], {}] }, {});
    takes(1 + 2 + 4 + 1, { enum: [{}, { a: 1 }] }, { a: 1 });
    takes(1 + 1 + 64 / 64, { const: "x".repeat(64) }, "x".repeat(64));
    takes(1 + 1 + 64 / 64, { const: "x".repeat(64) }, 5);
  });

  it("are one for 64 characters that are counted, and only where they decide", () => {
    takes(1, { maxLength: 64 }, "x".repeat(64));
    takes(1 + 2, { maxLength: 64 }, "x".repeat(128));
    takes(1 + 1, { minLength: 32 }, "x".repeat(128));
    takes(1 + 1 / 64, { minLength: 32 }, "x");
  });

  it("are one for 16 characters that a pattern compares", () => {
    takes(1 + (2 + 1) / 16, { pattern: "^a" }, "a");
    takes(1 + patternWork("^a*b", 64) / 16, { pattern: "^a*b" }, "a".repeat(63).concat("b"));
    // A pattern of our own, which strangers may not use, compares each character once.
    takes(1 + 64 / 16, { pattern: "^(a|b)*$" }, "ab".repeat(32));
    takes(1 + (2 + 1) / 16, { pattern: fresh("^[a]") }, "a");
    takes(1 + 64 / 16, { pattern: fresh("^([a]|b)*$") }, "ab".repeat(32));
    takes(1 + 2 + 1 / 4 + 2 + (3 + 3) / 16 + 1, { patternProperties: { "^a": true } }, { a: 1, b: 1 });
  });

  it("are one for four names of a schema, and for each that is needed", () => {
    const four = { k1: ["a"], k2: ["a"], k3: ["a"], k4: ["a"] };
    takes(1 + 1, { dependentRequired: four }, {});
    takes(1 + 2 + 1 + 1, { dependentRequired: four }, { k1: 1, a: 1 });
    takes(1 + 1 / 4, { dependentSchemas: { a: true } }, {});
    takes(1 + 1 + 1 / 4 + 1, { dependentSchemas: { a: true } }, { a: 1 });
    const kept = { dependentSchemas: { a: true } };
    for (let time = 0; time < 2; time++) takes(1 + 1 / 4, kept, {});
  });

  it("are one for each value that is compared with all others", () => {
    takes(1 + 2, { uniqueItems: true }, [1, 2]);
    takes(1 + 5, { uniqueItems: true }, [[1], { a: 2 }]);
  });

  it("end where faults are not reported and one is found", () => {
    takes(1 + 1 + 1, { not: { items: false } }, [1, 2, 3]);
    takes(1 + 1 + 3 + 1 + 3, { not: { additionalProperties: false } }, { a: 1, b: 2, c: 3 });
    takes(1 + 1 + 3 + 1 + 3, { not: { propertyNames: false } }, { a: 1, b: 2, c: 3 });
  });
});

describe("the size of a value", () => {
  const nested = (levels: number, inner: unknown): unknown => {
    let value = inner;
    for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value };
    return value;
  };
  it("is at most 64 levels and two million values", () => {
    expect([MAX_JSON_DEPTH, MAX_JSON_VALUES]).to.deep.equal([64, 2_000_000]);
    for (const good of [5, "a", null, nested(64, 5), nested(64, null)])
      expect(jsonSizeProblem(good)).to.equal(undefined);
    expect(jsonSizeProblem(nested(65, 5))).to.equal("is nested deeper than 64 levels");
    expect(validateJson({}, nested(65, 5), "v")).to.deep.equal([
      { field: "v", message: "is nested deeper than 64 levels" },
    ]);
  });

  it("counts values and not characters", () => {
    const many = new Array(MAX_JSON_VALUES - 1).fill(0);
    expect(jsonSizeProblem(many)).to.equal(undefined);
    expect(jsonSizeProblem([many])).to.equal("has more than 2000000 values in it");
    expect(jsonSizeProblem({ a: many })).to.equal("has more than 2000000 values in it");
    const text = "a".repeat(MAX_JSON_VALUES);
    for (const value of [text, [text], { a: text }]) expect(jsonSizeProblem(value)).to.equal(undefined);
  });
});

describe("the format of a text", () => {
  const hosts = (count: number) => Array(count).fill("a".repeat(63)).join(".");
  const cases: [format: string, good: string[], bad: string[]][] = [
    [
      "date",
      ["2026-01-31", "2028-02-29", "0001-01-01", "0000-02-29", "2000-12-01", "0050-06-30"],
      ["2026-1-31", "2026-00-10", "2026-13-01", "2026-01-00", "2026-02-29", "x2026-01-01", "2026-01-01x", ""],
    ],
    [
      "time",
      [
        "10:20:30Z",
        "23:59:60z",
        "00:00:00+23:59",
        "19:00:00-00:00",
        "10:20:30.5Z",
        `10:20:30.${"1".repeat(18)}Z`,
      ],
      [
        ...["24:00:00Z", "10:60:00Z", "10:20:61Z", "10:20:30", "10:20Z", "10:20:30.Z", "10:20:30+24:00"],
        ...[
          "10:20:30+10:60",
          "10:20:30+1000",
          `10:20:30.${"1".repeat(19)}Z`,
          "x10:20:30Z",
          "10:20:30Zx",
          "1:20:30Z",
        ],
      ],
    ],
    [
      "date-time",
      ["2026-01-31T10:20:30Z", "2026-01-31 10:20:30Z", "2026-01-31t10:20:30+01:00"],
      [
        "2026-01-31",
        "2026-01-31x10:20:30Z",
        "2026-02-30T10:20:30Z",
        "2026-01-31T10:20:30",
        "2026-01-31T",
        "10:20:30Z",
      ],
    ],
    [
      "email",
      ["a@b", "a.b@c.example", "A+!#$%&'*/=?^_`{|}~-b@c-d.example", `${"a".repeat(64)}@b`, `a@${hosts(4)}`],
      [
        ...[
          "a",
          "@b",
          "a@",
          ".a@b",
          "a.@b",
          "a..b@c",
          "a@b@c",
          "a b@c",
          "a@-b",
          "a@b-",
          "a@b..c",
          "a@b.",
          "a@b_c",
        ],
        ...[`${"a".repeat(65)}@b`, `a@${"b".repeat(64)}`, `a@${hosts(5)}`, "é@b", "a@b/c", "/a b@c"],
      ],
    ],
    [
      "ipv4",
      ["0.0.0.0", "255.255.255.255", "249.199.99.9", "10.20.100.1"],
      [
        "256.0.0.0",
        "1.2.3",
        "1.2.3.4.5",
        "01.2.3.4",
        "1.2.3.04",
        "1.2.3.256",
        "1.2.3.4x",
        "x1.2.3.4",
        "1.2.3.300",
      ],
    ],
    [
      "uuid",
      [
        "0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f",
        "0A1B2C3D-0A1B-0A1B-0A1B-0A1B2C3D4E5F",
        "urn:uuid:0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f",
      ],
      [
        "0a1b2c3d0a1b0a1b0a1b0a1b2c3d4e5f",
        "0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f0",
        "x0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f",
        "0a1b2c3d-0a1b-0a1b-0a1b2c3d4e5f",
        "0a1b2c3g-0a1b-0a1b-0a1b-0a1b2c3d4e5f",
      ],
    ],
  ];
  for (const [format, good, bad] of cases)
    it(`is a ${format} or not`, () => {
      for (const text of good) expect(hasFormat(text, format), text).to.equal(true);
      for (const text of bad) expect(hasFormat(text, format), text).to.equal(false);
    });

  it("is none for a text of more than 320 characters, and is not judged for other formats", () => {
    const address = (length: number) => {
      const tail = `@${hosts(4)}`;
      return `${"a".repeat(length - tail.length)}${tail}`;
    };
    expect(address(320).split("@")[0]).to.have.lengthOf(64);
    expect([hasFormat(address(320), "email"), hasFormat(`${address(320)}a`, "email")]).to.deep.equal([
      true,
      false,
    ]);
    expect(hasFormat("a".repeat(1_000), "uri")).to.equal(true);
    expect(hasFormat("a", "toString")).to.equal(true);
  });
});

describe("the pattern of a stranger", () => {
  const rule =
    "must begin with ^ and have no groups and no |. It may have one *, + or {n,}, and few other repetitions of variable length";
  it("takes linear time, or says why it is refused", () => {
    const cases: [pattern: string, problem: string | undefined][] = [
      ["^", undefined],
      ["", rule],
      ["a", rule],
      ["a^", rule],
      ["^a|b", rule],
      ["^(a", rule],
      ["^a)", rule],
      ["^\\1", rule],
      ["^\\9", rule],
      ["^\\k<a>", rule],
      ["^\\K", rule],
      ["^[\\1]", rule],
      ["^\\0", undefined],
      ["^\\(\\)\\|", undefined],
      ["^[(|)]", undefined],
      ["^[*+?]+[*+]", undefined],
      ["^\\p{L}\\P{L}\\u{41}*", undefined],
      ["^\\*\\+*", undefined],
      ["^a*b*", rule],
      ["^a*b+", rule],
      ["^a+b+", rule],
      ["^a{1,}b*", rule],
      ["^a{1,}b{2}c{3}", undefined],
      ["^a{1,}b{1,}", rule],
      ["^a{999}", undefined],
      ["^a{300}b{300}", undefined],
      ["^a{1000}", "must repeat nothing more than 999 times"],
      ["^a{1000,}", "must repeat nothing more than 999 times"],
      ["^a{0,1000}", "must repeat nothing more than 999 times"],
      ["^a{900,999}", undefined],
      [`^${"a?".repeat(8)}`, undefined],
      [`^${"a?".repeat(9)}`, rule],
      ["^a{1,256}", undefined],
      ["^a{1,257}", rule],
      ["^a{1,16}b{1,16}", undefined],
      ["^a{1,16}b{0,16}", rule],
      ["^a{1,128}b?", undefined],
      ["^a{1,129}b?", rule],
      ["^a{5,5}b{1,256}", undefined],
      [`^${"a".repeat(255)}`, undefined],
      [`^${"a".repeat(256)}`, "must have at most 256 characters"],
    ];
    for (const [pattern, problem] of cases) expect(patternProblem(pattern), pattern).to.equal(problem);
    for (const pattern of ["^[", "^a{2,1}", "^*", "^\\u{110000}", "^\\-"])
      expect(patternProblem(pattern), pattern).to.match(/^is no regular expression: ./);
    const quoted = patternProblem(`^${"a".repeat(250)}[`);
    expect(quoted).to.have.lengthOf("is no regular expression: ".length + 200);
  });

  it("compares as many characters as its repetitions can try", () => {
    const cases: [pattern: string, length: number, work: number][] = [
      ["", 10, 1],
      ["^", 10, 2 + 1],
    ];
    // Each part compares its most characters, and what follows it for each of its lengths.
    const part = (least: number, most: number, rest: number) => most + (most - least + 1) * rest;
    cases[1] = ["^", 10, part(1, 1, 1)];
    const of = (...parts: [least: number, most: number][]) =>
      [[1, 1] as const, ...parts].reduceRight((rest, [least, most]) => part(least, most, rest), 1);
    cases.push(
      ["^a", 10, of([1, 1])],
      ["^ab", 10, of([1, 1], [1, 1])],
      ["^a*b", 10, of([0, 10], [1, 1])],
      ["^a+b", 10, of([1, 10], [1, 1])],
      ["^a?b", 10, of([0, 1], [1, 1])],
      ["^a{3}b", 10, of([3, 3], [1, 1])],
      ["^a{3,}b", 10, of([3, 10], [1, 1])],
      ["^a{3,5}b", 10, of([3, 5], [1, 1])],
      ["^a{3,50}b", 10, of([3, 10], [1, 1])],
      ["^a{30,50}b", 10, of([10, 10], [1, 1])],
      ["^a{0,5}?b", 10, of([0, 5], [1, 1])],
      ["^a*?b", 10, of([0, 10], [1, 1])],
      ["^[abc]*\\db", 10, of([0, 10], [1, 1], [1, 1])],
      ["^\\p{L}{2,4}", 10, of([2, 4])],
      ["^\n*", 10, of([0, 10])],
      [`^${smile}{2}`, 10, of([2, 2])],
      ["^a?", 0, part(0, 0, part(0, 0, 1))],
      ["^a", 0, part(0, 0, part(0, 0, 1))],
    );
    for (const [pattern, length, work] of cases) expect(patternWork(pattern, length), pattern).to.equal(work);
  });
});
