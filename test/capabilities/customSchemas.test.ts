import { expect } from "chai";
import {
  checkCustomInput,
  MAX_SCHEMA_LENGTH,
  readCustomSchemas,
  verifyCustomOutput,
} from "tallystick-capabilities/customCapability";
import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";

const id = "custom.acme.ocr";

/** The refusal of a seller's answer, as `code field: message`; undefined if it is accepted. */
function refusal(value: unknown): string | undefined {
  try {
    readCustomSchemas(id, value);
    return undefined;
  } catch (error) {
    expect(error).to.be.instanceOf(InvalidInputError);
    const { code, issues } = error as InvalidInputError;
    return issues.map(({ field, message }) => `${code} ${field}: ${message}`).join();
  }
}
const ofInput = (schema: unknown): string | undefined => refusal({ input: schema, output: {} });

/** Expects that a schema for params is refused, with this field behind `schema.input` and this message. */
function refuses(schema: unknown, field: string, message: string): void {
  expect(ofInput(schema), JSON.stringify(schema)).to.equal(`invalid_schema schema.input${field}: ${message}`);
}

const [NO_OBJECT, NO_SCHEMA] = ["must be a JSON object", "must be a schema: an object, true or false"];
const WRITTEN_OUT = "is not accepted from strangers: write the schema out";

describe("the schemas of a custom capability", () => {
  it("are two objects in an object, under one of two names", () => {
    for (const value of [null, "schema", [], 5])
      expect(refusal(value)).to.equal(`invalid_schema schema: ${NO_OBJECT}`);
    for (const input of [undefined, null, true, "a", []])
      expect(refusal({ input, output: {} })).to.equal(`invalid_schema schema.input: ${NO_OBJECT}`);
    for (const output of [undefined, null, true, "a", []])
      expect(refusal({ input: {}, output })).to.equal(`invalid_schema schema.output: ${NO_OBJECT}`);
    const [input, output] = [{ title: "in" }, { title: "out" }];
    const [otherInput, otherOutput] = [{ title: "other in" }, { title: "other out" }];
    expect(
      readCustomSchemas(id, { input, output, input_schema: otherInput, output_schema: otherOutput }),
    ).to.deep.equal({
      input,
      output,
    });
    expect(readCustomSchemas(id, { input_schema: otherInput, output_schema: otherOutput })).to.deep.equal({
      input: otherInput,
      output: otherOutput,
    });
    expect(refusal({ input: {}, output: { items: 5 } })).to.equal(
      `invalid_schema schema.output.items: ${NO_SCHEMA}`,
    );
  });

  it("are only read for an id of custom work", () => {
    const caught = (() => {
      try {
        return readCustomSchemas("text.sing.it", { input: {}, output: {} });
      } catch (error) {
        return error;
      }
    })();
    expect(caught).to.be.instanceOf(TallystickError).and.to.include({
      code: "unknown_capability",
      message: "text.sing.it is no custom capability: only custom.* brings its own schemas.",
      field: "capability",
    });
  });

  it("have at most 65,536 characters each, and 32 levels", () => {
    expect(MAX_SCHEMA_LENGTH).to.equal(65_536);
    const long = (length: number) => ({ title: "x".repeat(length - '{"title":""}'.length) });
    expect(ofInput(long(MAX_SCHEMA_LENGTH))).to.equal(undefined);
    refuses(long(MAX_SCHEMA_LENGTH + 1), "", "must have at most 65536 characters");
    expect(refusal({ input: {}, output: long(MAX_SCHEMA_LENGTH + 1) })).to.equal(
      "invalid_schema schema.output: must have at most 65536 characters",
    );
    const nested = (levels: number, wrap: (inner: unknown) => unknown): unknown =>
      levels === 0 ? {} : wrap(nested(levels - 1, wrap));
    const deep = "must not be nested deeper than 32 levels";
    expect(ofInput(nested(32, (not) => ({ not })))).to.equal(undefined);
    refuses(
      nested(33, (not) => ({ not })),
      ".not".repeat(33),
      deep,
    );
    const within = (levels: number, inner: unknown): unknown =>
      levels === 0 ? inner : { not: within(levels - 1, inner) };
    expect(ofInput(within(31, { properties: { a: {} } }))).to.equal(undefined);
    refuses(within(32, { properties: { a: {} } }), `${".not".repeat(32)}.properties.a`, deep);
    // A list is a level of its own.
    expect(ofInput(nested(16, (part) => ({ allOf: [part] })))).to.equal(undefined);
    refuses(
      nested(17, (part) => ({ allOf: [part] })),
      `${".allOf.0".repeat(16)}.allOf`,
      deep,
    );
    let endless: unknown = {};
    for (let level = 0; level < 100; level++) endless = [endless];
    expect(refusal({ input: { default: endless }, output: {} })).to.equal(
      "invalid_schema schema: is nested deeper than 64 levels",
    );
  });

  it("refer to nothing, and use only what is understood", () => {
    for (const key of ["$ref", "$dynamicRef", "$recursiveRef", "$id", "$dynamicAnchor", "$recursiveAnchor"]) {
      refuses({ [key]: "#" }, `.${key}`, WRITTEN_OUT);
      refuses({ not: { [key]: "#" } }, `.not.${key}`, WRITTEN_OUT);
    }
    for (const key of ["$schema", "$comment", "$reference", "a$ref", "x$id", "$ids"])
      expect(ofInput({ [key]: "#" }), key).to.equal(undefined);
    for (const key of ["unevaluatedProperties", "unevaluatedItems"])
      refuses({ [key]: false }, `.${key}`, "is not understood here: use additionalProperties and items");
    refuses({ items: [{}] }, ".items", "must be one schema: use prefixItems");
    const types = "must be among null, array, object, integer, number, string, boolean";
    for (const type of ["text", "", 5, null, ["string", "text"], [["text"]]])
      refuses({ type }, ".type", types);
    for (const type of ["null", "array", "object", "integer", "number", "string", "boolean"]) {
      expect(ofInput({ type }), type).to.equal(undefined);
      expect(ofInput({ type: [type, "null"] }), type).to.equal(undefined);
    }
    const formats = "must be one of date, time, date-time, email, ipv4, uuid";
    for (const format of ["uri", 5, null]) refuses({ format }, ".format", formats);
    for (const format of ["date", "time", "date-time", "email", "ipv4", "uuid"])
      expect(ofInput({ format }), format).to.equal(undefined);
  });

  it("have simple patterns, also for names of properties", () => {
    refuses({ pattern: 5 }, ".pattern", "must be a text");
    expect(ofInput({ pattern: "^[" })).to.match(
      /^invalid_schema schema\.input\.pattern: is no regular expression: ./,
    );
    const rule =
      "must begin with ^ and have no groups and no |. It may have one *, + or {n,}, and few other repetitions of variable length";
    refuses({ pattern: "a" }, ".pattern", rule);
    refuses({ items: { pattern: "a" } }, ".items.pattern", rule);
    refuses({ patternProperties: { a: true } }, ".patternProperties.a", rule);
    refuses({ patternProperties: [] }, ".patternProperties", NO_OBJECT);
    expect(ofInput({ pattern: "^a", patternProperties: { "^a": true } })).to.equal(undefined);
  });

  it("have a schema wherever one must stand", () => {
    for (const key of [
      "items",
      "contains",
      "additionalProperties",
      "propertyNames",
      "not",
      "if",
      "then",
      "else",
    ]) {
      for (const value of [null, 5, "a"]) refuses({ [key]: value }, `.${key}`, NO_SCHEMA);
      for (const value of [{}, true, false]) expect(ofInput({ [key]: value }), key).to.equal(undefined);
      if (key !== "items") refuses({ [key]: [] }, `.${key}`, NO_SCHEMA);
      refuses(
        { [key]: { type: "text" } },
        `.${key}.type`,
        "must be among null, array, object, integer, number, string, boolean",
      );
    }
    for (const key of ["prefixItems", "allOf", "anyOf", "oneOf"]) {
      for (const value of [null, 5, "a", []]) refuses({ [key]: [true, value] }, `.${key}.1`, NO_SCHEMA);
      expect(ofInput({ [key]: [{}, true, false] }), key).to.equal(undefined);
      refuses({ [key]: [true, { items: 5 }] }, `.${key}.1.items`, NO_SCHEMA);
    }
    for (const key of ["properties", "patternProperties", "dependentSchemas"]) {
      for (const value of [null, 5, "a", []]) refuses({ [key]: { "^a": value } }, `.${key}.^a`, NO_SCHEMA);
      for (const value of [null, 5, "a", []]) refuses({ [key]: value }, `.${key}`, NO_OBJECT);
      expect(ofInput({ [key]: { "^a": {}, "^b": true } }), key).to.equal(undefined);
      refuses({ [key]: { "^a": { items: 5 } } }, `.${key}.^a.items`, NO_SCHEMA);
    }
  });

  it("may have anything in their data", () => {
    for (const key of ["const", "enum", "default", "examples", "title", "description"])
      expect(ofInput({ [key]: [{ items: 5, $ref: "#", type: "text" }] }), key).to.equal(undefined);
    for (const key of ["required", "dependentRequired"])
      expect(ofInput({ [key]: { items: 5, pattern: ["a"] } }), key).to.equal(undefined);
    // A keyword without a meaning may have anything but a refused keyword in it.
    expect(ofInput({ "x-note": [5, null, "a"] })).to.equal(undefined);
    refuses({ "x-note": [{ $ref: "#" }] }, ".x-note.0.$ref", WRITTEN_OUT);
  });

  it("judge the params and the result", () => {
    const schemas = readCustomSchemas(id, {
      input: { required: ["page", "size"] },
      output: { properties: { text: { type: "string" } } },
    });
    let caught: unknown;
    try {
      checkCustomInput(schemas, {});
    } catch (error) {
      caught = error;
    }
    expect(caught).to.be.instanceOf(InvalidInputError).with.property("code", "invalid_params");
    expect((caught as InvalidInputError).issues).to.deep.equal([
      { field: "params", message: 'has no "page"' },
      { field: "params", message: 'has no "size"' },
    ]);
    expect(() => checkCustomInput(schemas, { page: 1, size: 1 })).not.to.throw();
    const failed = (message: string) => ({
      all_passed: false,
      checks: { matches_schema: false },
      details: { matches_schema: message },
    });
    expect(verifyCustomOutput(schemas, { text: 5 })).to.deep.equal(failed("output.text: must be string"));
    expect(verifyCustomOutput(schemas, undefined)).to.deep.equal(failed("output: is required"));
    const trap = {
      get text(): string {
        throw new Error("gotcha");
      },
    };
    expect(verifyCustomOutput(schemas, trap)).to.deep.equal(failed("is no JSON"));
    expect(verifyCustomOutput(schemas, { text: "a" })).to.deep.equal({
      all_passed: true,
      checks: { matches_schema: true },
      details: {},
    });
  });
});
