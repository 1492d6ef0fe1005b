import { dumpsPythonJson, MAX_INT_DIGITS, MAX_JSON_DEPTH } from "./pythonJson.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const SPACE = 0x20;

/** Behind a value that is not, or not surely, as Python prints it. */
const UNSURE = -1;

/**
 * Passes over one JSON value that is printed as Python's `json.dumps(value, sort_keys=True)` prints it, without building
 * it: reading and printing it again would give the same text.
 *
 * @param at where the value begins
 * @returns the offset behind it; -1 when it is printed otherwise, or when only reading it could tell (keys with escapes)
 */
export function scanCanonical(text: string, at: number, depth = 0): number {
  const c = text.charCodeAt(at);
  switch (c) {
    case QUOTE:
      return scanCanonicalString(text, at);
    case 0x7b:
      return depth < MAX_JSON_DEPTH ? scanObject(text, at + 1, depth + 1) : UNSURE;
    case 0x5b:
      return depth < MAX_JSON_DEPTH ? scanArray(text, at + 1, depth + 1) : UNSURE;
    case 0x74:
      return text.startsWith("true", at) ? at + 4 : UNSURE;
    case 0x66:
      return text.startsWith("false", at) ? at + 5 : UNSURE;
    case 0x6e:
      return text.startsWith("null", at) ? at + 4 : UNSURE;
    default:
      return scanCanonicalNumber(text, at);
  }
}

function scanObject(text: string, start: number, depth: number): number {
  let at = start;
  if (text.charCodeAt(at) === 0x7d) return at + 1;
  let before: string | undefined;
  for (;;) {
    if (text.charCodeAt(at) !== QUOTE) return UNSURE;
    const keyStart = at + 1;
    at = scanPlainString(text, at);
    if (at === UNSURE) return UNSURE;
    const key = text.slice(keyStart, at - 1);
    // Of keys without escapes the order of the text is the order of the code points.
    if (before !== undefined && before >= key) return UNSURE;
    before = key;
    if (text.charCodeAt(at) !== COLON || text.charCodeAt(at + 1) !== SPACE) return UNSURE;
    at = scanCanonical(text, at + 2, depth);
    if (at === UNSURE) return UNSURE;
    const c = text.charCodeAt(at);
    if (c === 0x7d) return at + 1;
    if (c !== COMMA || text.charCodeAt(at + 1) !== SPACE) return UNSURE;
    at += 2;
  }
}

function scanArray(text: string, start: number, depth: number): number {
  let at = start;
  if (text.charCodeAt(at) === 0x5d) return at + 1;
  for (;;) {
    at = scanCanonical(text, at, depth);
    if (at === UNSURE) return UNSURE;
    const c = text.charCodeAt(at);
    if (c === 0x5d) return at + 1;
    if (c !== COMMA || text.charCodeAt(at + 1) !== SPACE) return UNSURE;
    at += 2;
  }
}

/** Passes over a string of printable ASCII without escapes. */
function scanPlainString(text: string, start: number): number {
  for (let at = start + 1; ; at++) {
    const c = text.charCodeAt(at);
    if (c === QUOTE) return at + 1;
    // The end of the text is NaN, which is in no range.
    if (!(c >= 0x20 && c <= 0x7e) || c === BACKSLASH) return UNSURE;
  }
}

/** {@link scanCanonical} where a string has to be. */
export function scanCanonicalString(text: string, start: number): number {
  if (text.charCodeAt(start) !== QUOTE) return UNSURE;
  for (let at = start + 1; ; at++) {
    const c = text.charCodeAt(at);
    if (c === QUOTE) return at + 1;
    if (!(c >= 0x20 && c <= 0x7e)) return UNSURE;
    if (c !== BACKSLASH) continue;
    at = scanEscape(text, at + 1);
    if (at === UNSURE) return UNSURE;
  }
}

/** The last character of an escape that Python writes, from the one behind its backslash. */
function scanEscape(text: string, at: number): number {
  const c = text.charAt(at);
  if (c !== "u") return c !== "" && '"\\nrtbf'.includes(c) ? at : UNSURE;
  const digits = text.slice(at + 1, at + 5);
  if (!/^[0-9a-f]{4}$/.test(digits)) return UNSURE;
  const unit = Number.parseInt(digits, 16);
  // Printable ASCII stands for itself, and these five have short escapes.
  const isEscaped = unit >= 0x7f || (unit < 0x20 && ![8, 9, 10, 12, 13].includes(unit));
  return isEscaped ? at + 4 : UNSURE;
}

const INTEGER = /-?(?:0|[1-9][0-9]*)(?![0-9.eE])/y;
const NUMBER = /-?[0-9][0-9.eE+-]*/y;

/** {@link scanCanonical} where a number has to be. */
export function scanCanonicalNumber(text: string, at: number): number {
  INTEGER.lastIndex = at;
  if (INTEGER.test(text)) {
    const end = INTEGER.lastIndex;
    const isMinusZero = end - at === 2 && text.startsWith("-0", at);
    return end - at <= MAX_INT_DIGITS && !isMinusZero ? end : UNSURE;
  }
  NUMBER.lastIndex = at;
  if (!NUMBER.test(text)) return UNSURE;
  const end = NUMBER.lastIndex;
  const digits = text.slice(at, end);
  const value = Number(digits);
  return Number.isFinite(value) && dumpsPythonJson(value) === digits ? end : UNSURE;
}
