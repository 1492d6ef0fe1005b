import { isCustomCapability } from "tallystick-protocol/capability";
import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { JSON_FORMATS } from "./jsonFormats.ts";
import { jsonSizeProblem } from "./jsonSize.ts";
import { patternProblem } from "./patternProblem.ts";
import type { JsonSchema } from "./schemaType.ts";
import { validateJson } from "./validateJson.ts";
import type { Verification } from "./verification.ts";

/** The schemas that the seller of a `custom.*` capability publishes at `ENDPOINT/capabilities/ID/schema` (SHP §5.2). */
export type CustomSchemas = { input: JsonSchema; output: JsonSchema };

/** The largest schema of a seller, in characters of its JSON. */
export const MAX_SCHEMA_LENGTH = 65_536;

const MAX_DEPTH = 32;

/**
 * Reads the schemas a seller published for a `custom.*` capability. They come from a stranger, so they must not cost
 * the buyer time or load anything. References are refused. Regular expressions must be of the simple kind that always
 * ends quickly.
 *
 * @param value the parsed answer, `{input, output}` (`input_schema` and `output_schema` are understood too)
 * @throws TallystickError `unknown_capability` for a standard-looking id; InvalidInputError `invalid_schema` naming the
 * field
 */
export function readCustomSchemas(capabilityId: string, value: unknown): CustomSchemas {
  if (!isCustomCapability(capabilityId)) {
    throw new TallystickError({
      code: "unknown_capability",
      message: `${capabilityId} is no custom capability: only custom.* brings its own schemas.`,
      field: "capability",
    });
  }
  const size = jsonSizeProblem(value);
  if (size !== undefined) throw invalid("schema", size);
  const answer = asObject(value, "schema");
  const input = asObject(answer.input ?? answer.input_schema, "schema.input");
  const output = asObject(answer.output ?? answer.output_schema, "schema.output");
  for (const [name, schema] of Object.entries({ input, output })) {
    if (JSON.stringify(schema).length > MAX_SCHEMA_LENGTH) {
      throw invalid(`schema.${name}`, `must have at most ${MAX_SCHEMA_LENGTH} characters`);
    }
    checkSchema(schema, `schema.${name}`, 0);
  }
  return { input, output };
}

/**
 * Checks the `params` for a custom capability, before anything is paid.
 *
 * @throws InvalidInputError `invalid_params` naming every wrong field
 */
export function checkCustomInput({ input }: CustomSchemas, params: unknown): void {
  const issues = validateJson(input, params, "params");
  if (issues.length > 0) throw new InvalidInputError({ code: "invalid_params", issues });
}

/** Checks a result against the seller's own schema. Nothing else is known of a custom capability. */
export function verifyCustomOutput({ output: schema }: CustomSchemas, output: unknown): Verification {
  let misfit: string | undefined;
  try {
    const [issue] = validateJson(schema, output, "output");
    misfit = issue && `${issue.field}: ${issue.message}`;
  } catch {
    misfit = "is no JSON";
  }
  return {
    all_passed: misfit === undefined,
    checks: { matches_schema: misfit === undefined },
    details: misfit === undefined ? {} : { matches_schema: misfit },
  };
}

/** Keywords whose value is not a schema and may contain anything. */
const DATA = new Set("const enum default examples required dependentRequired title description".split(" "));
/** Keywords whose value is an object with a schema under each name. */
const NAMED = new Set(["properties", "patternProperties", "dependentSchemas"]);
/** Keywords whose value is a schema. */
const SINGLE = new Set("items contains additionalProperties propertyNames not if then else".split(" "));
/** Keywords whose value is a list of schemas. */
const LISTED = new Set(["prefixItems", "allOf", "anyOf", "oneOf"]);
const TYPES = ["null", "array", "object", "integer", "number", "string", "boolean"];

function checkSchema(value: unknown, field: string, depth: number): void {
  if (depth > MAX_DEPTH) throw invalid(field, `must not be nested deeper than ${MAX_DEPTH} levels`);
  if (Array.isArray(value)) {
    for (const [at, inner] of value.entries()) checkSchema(inner, `${field}.${at}`, depth + 1);
    return;
  }
  if (value === null || typeof value !== "object") return;
  for (const [key, inner] of Object.entries(value)) {
    const at = `${field}.${key}`;
    if (DATA.has(key)) continue;
    checkKeyword(key, inner, at);
    if (!NAMED.has(key)) checkSchema(inner, at, depth + 1);
    else
      for (const [name, part] of Object.entries(asObject(inner, at))) {
        requireSchema(part, `${at}.${name}`);
        checkSchema(part, `${at}.${name}`, depth + 1);
      }
  }
}

function checkKeyword(key: string, value: unknown, field: string): void {
  // References could form circles, and a schema for params does not need them.
  if (/^\$(ref|dynamicRef|recursiveRef|id|dynamicAnchor|recursiveAnchor)$/.test(key)) {
    throw invalid(field, "is not accepted from strangers: write the schema out");
  }
  if (key === "unevaluatedProperties" || key === "unevaluatedItems") {
    throw invalid(field, "is not understood here: use additionalProperties and items");
  }
  if (key === "items" && Array.isArray(value)) throw invalid(field, "must be one schema: use prefixItems");
  if (SINGLE.has(key)) requireSchema(value, field);
  if (LISTED.has(key) && Array.isArray(value)) {
    for (const [at, part] of value.entries()) requireSchema(part, `${field}.${at}`);
  }
  if (key === "type" && ![value].flat().every((name) => TYPES.includes(name as string))) {
    throw invalid(field, `must be among ${TYPES.join(", ")}`);
  }
  if (key === "pattern") checkPattern(value, field);
  if (key === "patternProperties") {
    for (const pattern of Object.keys(asObject(value, field))) checkPattern(pattern, `${field}.${pattern}`);
  }
  if (key === "format" && !JSON_FORMATS.includes(value as string)) {
    throw invalid(field, `must be one of ${JSON_FORMATS.join(", ")}`);
  }
}

function requireSchema(value: unknown, field: string): void {
  const isSchema = typeof value === "boolean" || (value !== null && typeof value === "object");
  if (!isSchema || Array.isArray(value)) throw invalid(field, "must be a schema: an object, true or false");
}

function checkPattern(pattern: unknown, field: string): void {
  const problem = typeof pattern === "string" ? patternProblem(pattern) : "must be a text";
  if (problem !== undefined) throw invalid(field, problem);
}

function asObject(value: unknown, field: string): { [key: string]: unknown } {
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw invalid(field, "must be a JSON object");
  }
  return value as { [key: string]: unknown };
}

function invalid(field: string, message: string): InvalidInputError {
  return new InvalidInputError({ code: "invalid_schema", issues: [{ field, message }] });
}
