import { InvalidInputError } from "../errors.ts";
import type { PyJson } from "./pythonJson.ts";

/** What a signed record may contain. There are no floats, so every language prints the same bytes. */
export type RecordJson = string | number | boolean | null | RecordJson[] | { [key: string]: RecordJson };

/** The signed part of a record. Numbers are safe integers. */
export type RecordBody = { [key: string]: RecordJson };

function fail(field: string, message: string): never {
  throw new InvalidInputError({ issues: [{ field, message }] });
}

function join(path: string, key: string | number): string {
  return path === "" ? String(key) : `${path}.${key}`;
}

/** With the u flag only a lone surrogate matches. */
const LONE_SURROGATE = /[\ud800-\udfff]/u;

function checkText(text: string, path: string): string {
  // Databases cannot store U+0000 in text, and no field needs it.
  if (text.includes("\u0000")) fail(path, "has the NUL character, which cannot be stored");
  if (LONE_SURROGATE.test(text)) fail(path, "has a surrogate without its partner, which is not a character");
  return text;
}

/** Sets an own property even when the key is `__proto__`. */
function setOwn<T>(target: { [key: string]: T }, key: string, value: T): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    target[key] = value;
  }
}

function fromPyJson(value: PyJson, path: string): RecordJson {
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "string") return checkText(value, path);
  if (typeof value === "bigint") {
    const number = Number(value);
    if (!Number.isSafeInteger(number))
      fail(path, "must be an integer within ±(2^53 - 1); write a larger integer as a string");
    return number;
  }
  if (typeof value === "number") fail(path, "must not be a float; use an integer or a decimal string");
  if (Array.isArray(value)) return value.map((item, index) => fromPyJson(item, join(path, index)));
  const body: RecordBody = {};
  for (const key of Object.keys(value)) {
    checkText(key, join(path, key));
    setOwn(body, key, fromPyJson(value[key] as PyJson, join(path, key)));
  }
  return body;
}

/**
 * Reads a record's body out of parsed JSON.
 *
 * @param path prefix of the field names in errors, e.g. `body`
 * @throws InvalidInputError when it is not an object, or has a float (`1.0` is a float), an integer beyond ±(2^53 - 1),
 * a lone surrogate or U+0000
 */
export function recordBodyFromPyJson(value: PyJson, path = ""): RecordBody {
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    fail(path, "must be an object");
  }
  return fromPyJson(value, path) as RecordBody;
}

function toPyJson(value: RecordJson): PyJson {
  if (typeof value === "number") return BigInt(value);
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(toPyJson);
  const object: { [key: string]: PyJson } = {};
  for (const key of Object.keys(value)) setOwn(object, key, toPyJson(value[key] as RecordJson));
  return object;
}

/** The body as the ledger stores it: the same value, with bigints (Python ints) for its numbers. */
export function recordBodyToPyJson(body: RecordBody): { [key: string]: PyJson } {
  return toPyJson(body) as { [key: string]: PyJson };
}

/** Printable ASCII without quote and backslash: characters that are allowed anywhere and need no escape. */
const PLAIN = /^[ !#-[\]-~]*$/;

function quote(text: string, path: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(checkText(text, path));
}

function write(value: unknown, path: string): string {
  switch (typeof value) {
    case "string":
      return quote(value, path);
    case "boolean":
      return value ? "true" : "false";
    case "number":
      if (!Number.isSafeInteger(value)) fail(path, "must be a safe integer; floats cannot be signed");
      return Object.is(value, -0) ? "0" : String(value);
    case "object":
      break;
    default:
      fail(path, `must be JSON, not ${typeof value}`);
  }
  if (value === null) return "null";
  if (Array.isArray(value))
    return `[${value.map((item, index) => write(item, join(path, index))).join(",")}]`;
  const object = value as { [key: string]: unknown };
  const members = Object.keys(object)
    .sort()
    .map((key) => {
      const at = join(path, key);
      return `${quote(key, at)}:${write(object[key], at)}`;
    });
  return `{${members.join(",")}}`;
}

/**
 * The bytes that get signed, as text: keys sorted by UTF-16 code unit at every level, no spaces, strings as
 * JSON.stringify writes them. This is what existing Swarmwage SDKs sign, and RFC 8785 restricted to integers.
 *
 * @example canonicalBody({ b: 1, a: "x" }) // '{"a":"x","b":1}'
 * @throws InvalidInputError naming the field that cannot be signed (a float, undefined, a lone surrogate, U+0000)
 */
export function canonicalBody(body: RecordBody): string {
  return write(body, "");
}

/** The body without one of its keys. A signature inside the body covers the body without the signature's own key. */
export function bodyWithout(body: RecordBody, key: string): RecordBody {
  const rest = { ...body };
  delete rest[key];
  return rest;
}
