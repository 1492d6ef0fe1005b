import { type OutputUnit, type Schema, Validator } from "@cfworker/json-schema";
import type { InputIssue } from "../errors.ts";
import type { JsonSchema } from "./schemaType.ts";

/** Most faults that one answer names. */
const MAX_ISSUES = 20;

const validators = new WeakMap<JsonSchema, Validator>();

/**
 * Checks a value against a JSON Schema (draft 2020-12), without evaluating code, so that it works under any content
 * security policy. References lead nowhere but into the schema itself.
 *
 * @param root the name of the value in the faults, e.g. `params`
 * @returns what is wrong, field by field; nothing when the value fits
 */
export function validateJson(schema: JsonSchema, value: unknown, root: string): InputIssue[] {
  let validator = validators.get(schema);
  if (!validator) {
    validator = new Validator(schema as Schema, "2020-12", false);
    validators.set(schema, validator);
  }
  if (value === undefined) return [{ field: root, message: "is required" }];
  const { valid, errors } = validator.validate(value);
  if (valid) return [];
  const issues = causesOf(errors).map((error) => asIssue(error, root));
  if (issues.length === 0) return [{ field: root, message: "does not fit its schema" }];
  return issues.slice(0, MAX_ISSUES);
}

/** Keywords that only say that something below them failed. */
const CONTAINERS = ["properties", "additionalProperties", "items", "prefixItems", "$ref", "allOf"];

/** The faults themselves. A property that is known but wrong is also told as one too many: that is left out. */
function causesOf(errors: OutputUnit[]): OutputUnit[] {
  const causes = errors.filter(({ keyword }) => !CONTAINERS.includes(keyword));
  const places = causes.filter(({ keyword }) => keyword !== "false").map((error) => error.instanceLocation);
  return causes.filter(
    ({ keyword, instanceLocation: at }) =>
      keyword !== "false" || !places.some((place) => place === at || place.startsWith(`${at}/`)),
  );
}

function asIssue({ keyword, instanceLocation, error }: OutputUnit, root: string): InputIssue {
  const path = instanceLocation.split("/").slice(1).map(unescapePointer);
  const message = keyword === "false" ? "is not expected here" : error;
  return { field: [root, ...path].join("."), message: message.replace(/\.$/, "").replace(/^Instance /, "") };
}

/** RFC 6901 §4. */
function unescapePointer(part: string): string {
  return part.replaceAll("~1", "/").replaceAll("~0", "~");
}
