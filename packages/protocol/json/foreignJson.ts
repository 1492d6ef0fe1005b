import { InvalidInputError } from "../errors.ts";
import { MAX_JSON_DEPTH } from "./pythonJson.ts";

/** Limits on a stranger's JSON. */
export type JsonLimits = {
  /** UTF-16 units. Default 32 Mi. */
  maxLength?: number;
  /** Levels of arrays and objects. Default {@link MAX_JSON_DEPTH}: beyond some thousands `JSON.stringify` throws. */
  maxDepth?: number;
  /** Values in all; names of members do not count. Default 4,000,000. */
  maxValues?: number;
};

/**
 * The text is not JSON, or exceeds a limit. Codes: `malformed_json`, `json_too_large`, `json_too_deep`,
 * `json_too_many_values`.
 */
export class ForeignJsonError extends InvalidInputError {
  constructor(code: string, message: string, cause?: unknown) {
    super({ code, issues: [{ field: "", message }], ...(cause !== undefined && { cause }) });
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const DEFAULT_LENGTH = 32 * 1024 * 1024;
const DEFAULT_VALUES = 4_000_000;

/**
 * Reads JSON that a stranger wrote. One pass over the text checks the limits, before a value is made of it. Its cost is
 * proportional to the text's length.
 *
 * @throws ForeignJsonError
 */
export function readForeignJson(text: string, limits: JsonLimits = {}): unknown {
  const { maxLength = DEFAULT_LENGTH, maxDepth = MAX_JSON_DEPTH, maxValues = DEFAULT_VALUES } = limits;
  if (text.length > maxLength) {
    throw new ForeignJsonError("json_too_large", `is longer than ${maxLength} characters`);
  }
  let depth = 0;
  // One value, and one more for each comma and for each array or object. An empty array or object counts as two.
  let values = 1;
  for (let at = 0; at < text.length; at++) {
    const c = text.charCodeAt(at);
    if (c === QUOTE) {
      at = endOfString(text, at);
      if (at === -1) break;
    } else if (c === 0x5b || c === 0x7b) {
      values++;
      if (++depth > maxDepth) {
        throw new ForeignJsonError("json_too_deep", `is nested deeper than ${maxDepth} levels`);
      }
    } else if (c === 0x5d || c === 0x7d) depth--;
    else if (c === COMMA) values++;
  }
  if (values > maxValues) {
    throw new ForeignJsonError("json_too_many_values", `has more than ${maxValues} values in it`);
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ForeignJsonError("malformed_json", "is no JSON", cause);
  }
}

/** Like {@link readForeignJson}, but returns undefined instead of throwing. */
export function tryForeignJson(text: string, limits?: JsonLimits): unknown {
  try {
    return readForeignJson(text, limits);
  } catch {
    return undefined;
  }
}

/** The end of the string that begins at `start`; -1 if it has no end. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return at;
  }
  return -1;
}
