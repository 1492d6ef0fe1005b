import type { InputIssue } from "tallystick-protocol/errors";
import { hasFormat } from "./jsonFormats.ts";
import { jsonSizeProblem } from "./jsonSize.ts";
import { patternProblem, patternWork } from "./patternProblem.ts";
import type { JsonSchema } from "./schemaType.ts";

/** The most faults that one check reports. */
const MAX_ISSUES = 20;

/**
 * The most steps of one check, which take about a second. One step compares one schema with one value, reads
 * one name of a property or four of a schema, or compares 64 characters, or 16 with a pattern.
 */
const MAX_STEPS = 5_000_000;

/**
 * Checks a value against a JSON Schema (draft 2020-12). It does not generate code, so it works under any content
 * security policy. Both the schema and the value may come from strangers, so the steps are counted: a check that
 * needs too many steps fails. It knows every assertion except `unevaluatedProperties` and `unevaluatedItems`. It
 * knows no references. The steps limit the time of a pattern only if it passes `patternProblem`, so the patterns of a
 * stranger's schema must pass it first.
 *
 * @param root the name of the value in the faults, e.g. `params`
 * @param maxSteps the most steps; fewer for a small value, if many strangers' schemas are checked
 * @returns what is wrong, field by field; nothing when the value fits
 */
export function validateJson(
  schema: JsonSchema,
  value: unknown,
  root: string,
  maxSteps = MAX_STEPS,
): InputIssue[] {
  if (value === undefined) return [{ field: root, message: "is required" }];
  const size = jsonSizeProblem(value);
  if (size !== undefined) return [{ field: root, message: size }];
  const validation = new Validation(root, maxSteps);
  try {
    validation.fits(schema, value);
  } catch (error) {
    if (!(error instanceof TooManySteps)) throw error;
    return [{ field: root, message: "would take too many steps to check" }];
  }
  return validation.issues;
}

class TooManySteps extends Error {}

type Json = { readonly [key: string]: unknown };

/** The values of each `enum` as a set. A set is made once. */
const enumSets = new WeakMap<object, Set<unknown>>();
/** The names and schemas in each part of a schema that has names. A list is made once. */
const entryLists = new WeakMap<object, [string, unknown][]>();
/** The compiled patterns. A pattern is compiled once, until there are too many. */
const patterns = new Map<string, Pattern>();
const MAX_KEPT_PATTERNS = 1000;

/** `work`: how many characters are compared with a text of some length. */
type Pattern = { expression: RegExp; work: (length: number) => number };

/** One check of one value. */
class Validation {
  readonly issues: InputIssue[] = [];
  readonly #path: (string | number)[];
  readonly #maxSteps: number;
  #steps = 0;
  /** Above 0 inside `not`, `anyOf` and similar keywords, where a mismatch is not a fault yet. */
  #quiet = 0;

  constructor(root: string, maxSteps: number) {
    this.#path = [root];
    this.#maxSteps = maxSteps;
  }

  fits(schema: unknown, value: unknown): boolean {
    this.#step(1);
    if (schema === true) return true;
    if (schema === false) return this.#fault("is not expected here");
    if (!isObject(schema)) throw new Error("a schema must be an object, true or false");
    const before = this.issues.length;
    const holds =
      this.#isOfType(schema, value) &&
      this.#isAmong(schema, value) &&
      this.#combines(schema, value) &&
      this.#hasShape(schema, value);
    return holds && this.issues.length === before;
  }

  #hasShape(schema: Json, value: unknown): boolean {
    if (typeof value === "string") return this.#isText(schema, value);
    if (typeof value === "number") return this.#isNumber(schema, value);
    if (Array.isArray(value)) return this.#isArray(schema, value);
    return isObject(value) ? this.#isObject(schema, value) : true;
  }

  #isOfType({ type }: Json, value: unknown): boolean {
    if (type === undefined) return true;
    const types: unknown[] = Array.isArray(type) ? type : [type];
    this.#step(types.length);
    return types.some((name) => isOfType(value, name)) || this.#fault(`must be ${types.join(" or ")}`);
  }

  #isAmong(schema: Json, value: unknown): boolean {
    if ("const" in schema && !this.#areEqual(schema.const, value)) {
      return this.#fault(() => `must be ${shown(schema.const)}`);
    }
    if (!Array.isArray(schema.enum)) return true;
    let plain = enumSets.get(schema);
    if (!plain) {
      plain = new Set(schema.enum);
      enumSets.set(schema, plain);
    }
    const isListed =
      value !== null && typeof value === "object"
        ? schema.enum.some((allowed) => this.#areEqual(allowed, value))
        : plain.has(value);
    const allowed = schema.enum;
    return isListed || this.#fault(() => `must be one of ${allowed.slice(0, 40).map(shown).join(", ")}`);
  }

  #combines(schema: Json, value: unknown): boolean {
    const { allOf, anyOf, oneOf, not } = schema;
    let holds = true;
    if (Array.isArray(allOf)) for (const part of allOf) holds = this.fits(part, value) && holds;
    if (Array.isArray(anyOf) && !anyOf.some((part) => this.#wouldFit(part, value))) {
      holds = this.#fault("fits none of the forms that are allowed");
    }
    if (Array.isArray(oneOf)) {
      const count = oneOf.filter((part) => this.#wouldFit(part, value)).length;
      if (count !== 1) holds = this.#fault(`fits ${count} of the allowed forms, and must fit exactly one`);
    }
    if (not !== undefined && this.#wouldFit(not, value)) holds = this.#fault("has a form that is excluded");
    if (schema.if !== undefined) {
      const branch = this.#wouldFit(schema.if, value) ? schema.then : schema.else;
      if (branch !== undefined) holds = this.fits(branch, value) && holds;
    }
    return holds;
  }

  #isText(schema: Json, text: string): boolean {
    const { minLength, maxLength, pattern, format } = schema;
    // `length` counts some characters twice (UTF-16), so the exact count is made only where it decides.
    if (isNumber(maxLength) && text.length > maxLength && this.#lengthOf(text) > maxLength) {
      return this.#fault(`must have at most ${maxLength} characters`);
    }
    if (isNumber(minLength) && this.#lengthOf(text.slice(0, 2 * minLength)) < minLength) {
      return this.#fault(`must have at least ${minLength} characters`);
    }
    if (typeof pattern === "string" && !this.#matches(pattern, text)) {
      return this.#fault(`must match ${pattern.slice(0, 100)}`);
    }
    return typeof format !== "string" || hasFormat(text, format) || this.#fault(`must be a ${format}`);
  }

  #isNumber(schema: Json, value: number): boolean {
    const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
    if (isNumber(minimum) && value < minimum) return this.#fault(`must be at least ${minimum}`);
    if (isNumber(maximum) && value > maximum) return this.#fault(`must be at most ${maximum}`);
    if (isNumber(exclusiveMinimum) && value <= exclusiveMinimum) {
      return this.#fault(`must be more than ${exclusiveMinimum}`);
    }
    if (isNumber(exclusiveMaximum) && value >= exclusiveMaximum) {
      return this.#fault(`must be less than ${exclusiveMaximum}`);
    }
    if (!isNumber(multipleOf) || multipleOf === 0) return true;
    const times = value / multipleOf;
    const isMultiple = Math.abs(times - Math.round(times)) <= 1e-9 * Math.max(1, Math.abs(times));
    return isMultiple || this.#fault(`must be a multiple of ${multipleOf}`);
  }

  #isArray(schema: Json, items: unknown[]): boolean {
    const { minItems, maxItems, uniqueItems, contains } = schema;
    // With too many entries the rest is not checked, so an oversized value costs nothing.
    if (isNumber(maxItems) && items.length > maxItems)
      return this.#fault(`must have at most ${maxItems} items`);
    if (isNumber(minItems) && items.length < minItems)
      return this.#fault(`must have at least ${minItems} items`);
    const first: unknown[] = Array.isArray(schema.prefixItems) ? schema.prefixItems : [];
    let holds = true;
    for (let at = 0; at < items.length && !this.#isFull(); at++) {
      const part = at < first.length ? first[at] : schema.items;
      if (part === undefined) break;
      holds = this.#inside(at, part, items[at]) && holds;
      if (!holds && this.#quiet > 0) return false;
    }
    if (contains !== undefined) {
      const [least, most] = [numberOr(schema.minContains, 1), numberOr(schema.maxContains, Infinity)];
      const count = items.filter((item) => this.#wouldFit(contains, item)).length;
      if (count < least || count > most)
        holds = this.#fault(`has ${count} items of the kind that is counted`);
    }
    return (
      (uniqueItems !== true || !this.#hasDouble(items) || this.#fault("has the same item twice")) && holds
    );
  }

  #isObject(schema: Json, value: Json): boolean {
    const keys = this.#keysOf(value);
    const { minProperties, maxProperties, required, propertyNames } = schema;
    if (isNumber(maxProperties) && keys.length > maxProperties) {
      return this.#fault(`must have at most ${maxProperties} properties`);
    }
    if (isNumber(minProperties) && keys.length < minProperties) {
      return this.#fault(`must have at least ${minProperties} properties`);
    }
    let holds = true;
    const need = (names: unknown): void => {
      for (const name of Array.isArray(names) ? names : []) {
        this.#step(1);
        if (!Object.hasOwn(value, name)) holds = this.#fault(`has no "${String(name).slice(0, 100)}"`);
      }
    };
    need(required);
    for (const [name, names] of this.#entriesOf(schema.dependentRequired))
      if (Object.hasOwn(value, name)) need(names);
    for (const [name, part] of this.#entriesOf(schema.dependentSchemas)) {
      if (Object.hasOwn(value, name)) holds = this.fits(part, value) && holds;
    }
    const properties = isObject(schema.properties) ? schema.properties : {};
    const byPattern = this.#entriesOf(schema.patternProperties);
    for (const key of keys) {
      if (this.#isFull()) return false;
      let isKnown = Object.hasOwn(properties, key);
      if (isKnown) holds = this.#inside(key, properties[key], value[key]) && holds;
      for (const [pattern, part] of byPattern) {
        this.#step(1);
        if (!this.#matches(pattern, key)) continue;
        isKnown = true;
        holds = this.#inside(key, part, value[key]) && holds;
      }
      const { additionalProperties } = schema;
      if (!isKnown && additionalProperties !== undefined) {
        holds = this.#inside(key, additionalProperties, value[key]) && holds;
      }
      if (propertyNames !== undefined && !this.#wouldFit(propertyNames, key)) {
        this.#path.push(key);
        holds = this.#fault("has a name that is not allowed");
        this.#path.pop();
      }
      if (!holds && this.#quiet > 0) return false;
    }
    return holds;
  }

  /**
   * Whether two items are equal. Each different value gets a number. It takes time in proportion to the size of the
   * items.
   */
  #hasDouble(items: unknown[]): boolean {
    const numbers = new Map<string, number>();
    const numberOf = (value: unknown): number => {
      this.#step(1);
      const inside =
        value === null || typeof value !== "object"
          ? `${typeof value} ${String(value)}`
          : Array.isArray(value)
            ? `[${value.map(numberOf).join()}`
            : `{${Object.keys(value)
                .sort()
                .map((key) => `${numberOf(key)}:${numberOf((value as Json)[key])}`)
                .join()}`;
      const known = numbers.get(inside) ?? numbers.size;
      numbers.set(inside, known);
      return known;
    };
    return new Set(items.map(numberOf)).size < items.length;
  }

  #areEqual(a: unknown, b: unknown): boolean {
    this.#step(typeof a === "string" ? 1 + a.length / 64 : 1);
    if (a === b) return true;
    if (Array.isArray(a)) {
      return Array.isArray(b) && a.length === b.length && a.every((item, at) => this.#areEqual(item, b[at]));
    }
    if (!isObject(a) || !isObject(b)) return false;
    const keys = this.#keysOf(a);
    if (keys.length !== this.#keysOf(b).length) return false;
    return keys.every((key) => Object.hasOwn(b, key) && this.#areEqual(a[key], b[key]));
  }

  #inside(key: string | number, schema: unknown, value: unknown): boolean {
    this.#path.push(key);
    const holds = this.fits(schema, value);
    this.#path.pop();
    return holds;
  }

  #wouldFit(schema: unknown, value: unknown): boolean {
    this.#quiet++;
    const holds = this.fits(schema, value);
    this.#quiet--;
    return holds;
  }

  #lengthOf(text: string): number {
    this.#step(text.length / 64);
    let length = 0;
    for (const _ of text) length++;
    return length;
  }

  #matches(source: string, text: string): boolean {
    const { expression, work } = patternOf(source);
    this.#step(work(text.length) / 16);
    return expression.test(text);
  }

  #keysOf(value: Json): string[] {
    const keys = Object.keys(value);
    this.#step(keys.length);
    return keys;
  }

  #entriesOf(part: unknown): [string, unknown][] {
    if (!isObject(part)) return [];
    let entries = entryLists.get(part);
    if (!entries) {
      entries = Object.entries(part);
      entryLists.set(part, entries);
    }
    this.#step(entries.length / 4);
    return entries;
  }

  #isFull(): boolean {
    return this.issues.length >= MAX_ISSUES;
  }

  /** @param message is made only if somebody reads it, because a constant may be long */
  #fault(message: string | (() => string)): false {
    if (this.#quiet > 0 || this.#isFull()) return false;
    const text = typeof message === "string" ? message : message();
    this.issues.push({ field: this.#path.join("."), message: text });
    return false;
  }

  #step(count: number): void {
    this.#steps += count;
    if (this.#steps > this.#maxSteps) throw new TooManySteps();
  }
}

function isOfType(value: unknown, type: unknown): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    case "integer":
      return Number.isInteger(value);
    case "number":
      return Number.isFinite(value);
    default:
      return typeof value === type && (type === "string" || type === "boolean");
  }
}

function isObject(value: unknown): value is Json {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

function isNumber(value: unknown): value is number {
  return typeof value === "number";
}

function numberOr(value: unknown, other: number): number {
  return isNumber(value) ? value : other;
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? String(value)).slice(0, 100);
}

/** @throws SyntaxError when it is not a regular expression */
function patternOf(source: string): Pattern {
  let pattern = patterns.get(source);
  if (!pattern) {
    if (patterns.size >= MAX_KEPT_PATTERNS) patterns.clear();
    // Our own patterns may have groups. All of them take linear time.
    const isOwn = patternProblem(source) !== undefined;
    const work = isOwn ? (length: number) => length : (length: number) => patternWork(source, length);
    pattern = { expression: new RegExp(source, "u"), work };
    patterns.set(source, pattern);
  }
  return pattern;
}
