import { pythonFloat } from "./pythonFloat.ts";
import { MAX_INT_DIGITS, MAX_JSON_DEPTH } from "./pythonJson.ts";

const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const LETTER_E = 0x65;
const SPACE = 0x20;

/**
 * Returned when Python would print the value differently, or when that is not certain. No byte has this offset, so a
 * scan that continues there is unsure too.
 */
const UNSURE = -1;

/** 1 for the bytes that a string contains unescaped: printable ASCII except the quote and the backslash. */
const PLAIN = Uint8Array.from({ length: 256 }, (_, c) =>
  Number(c >= 0x20 && c <= 0x7e && c !== QUOTE && c !== BACKSLASH),
);

/** Up to this many digits, no two decimals are the same double (C's `DBL_DIG`). */
const SURE_DIGITS = 15;

/**
 * Scans the text of one JSON value, and builds no value. It succeeds when the text is as Python's `json.dumps(value,
 * sort_keys=True)` prints it. Then reading and printing the value would give the same bytes.
 *
 * @param bytes a buffer with the text. If the buffer is longer than the text, the caller must check that the result is
 * not behind the end of the text
 * @param at where the value begins
 * @returns the offset after the value; -1 when Python prints it differently, or when the scan cannot decide (keys
 * with escapes)
 */
export function scanCanonical(bytes: Uint8Array, at: number, depth = 0): number {
  const c = bytes[at];
  switch (c) {
    case QUOTE:
      return scanCanonicalString(bytes, at);
    case 0x7b:
      return depth < MAX_JSON_DEPTH ? scanObject(bytes, at + 1, depth + 1) : UNSURE;
    case 0x5b:
      return depth < MAX_JSON_DEPTH ? scanArray(bytes, at + 1, depth + 1) : UNSURE;
    case 0x74:
      return startsWith(bytes, TRUE, at) ? at + 4 : UNSURE;
    case 0x66:
      return startsWith(bytes, FALSE, at) ? at + 5 : UNSURE;
    case 0x6e:
      return startsWith(bytes, NULL, at) ? at + 4 : UNSURE;
    default:
      return scanCanonicalNumber(bytes, at);
  }
}

/** The bytes of a text in ASCII, one for each character. */
export function asciiBytes(text: string): Uint8Array {
  return Uint8Array.from(text, (char) => char.charCodeAt(0));
}

const TRUE = asciiBytes("true");
const FALSE = asciiBytes("false");
const NULL = asciiBytes("null");

/** Whether `bytes` contains `part` at an offset. */
export function startsWith(bytes: Uint8Array, part: Uint8Array, at: number): boolean {
  for (let i = 0; i < part.length; i++) if (bytes[at + i] !== part[i]) return false;
  return true;
}

function scanObject(bytes: Uint8Array, start: number, depth: number): number {
  let at = start;
  if (bytes[at] === 0x7d) return at + 1;
  let before = -1;
  for (;;) {
    if (bytes[at] !== QUOTE) return UNSURE;
    const key = at + 1;
    at = key;
    while (PLAIN[bytes[at] as number] === 1) at++;
    // The next check compares keys as they are written. Escapes would falsify their order, so the scan gives up.
    if (bytes[at] !== QUOTE || bytes[at + 1] !== COLON || bytes[at + 2] !== SPACE) return UNSURE;
    if (before !== -1 && !isKeyBelow(bytes, before, key)) return UNSURE;
    before = key;
    at = scanCanonical(bytes, at + 3, depth);
    const c = bytes[at];
    if (c === 0x7d) return at + 1;
    if (c !== COMMA || bytes[at + 1] !== SPACE) return UNSURE;
    at += 2;
  }
}

/** Whether the key at `a` sorts before the key at `b`; both are plain and end in a quote. */
function isKeyBelow(bytes: Uint8Array, a: number, b: number): boolean {
  for (let i = 0; ; i++) {
    const x = bytes[a + i] as number;
    const y = bytes[b + i] as number;
    // The end of a key sorts below every character, although its quote is not the lowest printable character.
    if (y === QUOTE) return false;
    if (x === QUOTE) return true;
    if (x !== y) return x < y;
  }
}

function scanArray(bytes: Uint8Array, start: number, depth: number): number {
  let at = start;
  if (bytes[at] === 0x5d) return at + 1;
  for (;;) {
    at = scanCanonical(bytes, at, depth);
    const c = bytes[at];
    if (c === 0x5d) return at + 1;
    if (c !== COMMA || bytes[at + 1] !== SPACE) return UNSURE;
    at += 2;
  }
}

/** {@link scanCanonical} at a place where a string must be. */
export function scanCanonicalString(bytes: Uint8Array, start: number): number {
  if (bytes[start] !== QUOTE) return UNSURE;
  for (let at = start + 1; ; at++) {
    while (PLAIN[bytes[at] as number] === 1) at++;
    if (bytes[at] === QUOTE) return at + 1;
    if (bytes[at] !== BACKSLASH) return UNSURE;
    at = scanEscape(bytes, at + 1);
    if (at === UNSURE) return UNSURE;
  }
}

const SHORT_ESCAPES = asciiBytes('"\\nrtbf');

/**
 * Scans an escape from the byte after its backslash. Returns the offset of its last byte; -1 when Python does not write
 * the character in this way.
 */
function scanEscape(bytes: Uint8Array, at: number): number {
  const c = bytes[at] as number;
  if (c !== 0x75) return SHORT_ESCAPES.includes(c) ? at : UNSURE;
  let unit = 0;
  for (let i = at + 1; i <= at + 4; i++) {
    const digit = hexDigit(bytes[i] as number);
    if (digit === -1) return UNSURE;
    unit = 16 * unit + digit;
  }
  // Python never writes \u for printable ASCII, nor for these five characters, which have short escapes.
  const isEscaped = unit >= 0x7f || (unit < 0x20 && ![8, 9, 10, 12, 13].includes(unit));
  return isEscaped ? at + 4 : UNSURE;
}

/** The value of a lower-case hex digit, -1 for any other byte. */
export function hexDigit(c: number): number {
  if (c >= ZERO && c <= NINE) return c - ZERO;
  return c >= 0x61 && c <= 0x66 ? c - 0x57 : -1;
}

/** {@link scanCanonical} at a place where a number must be. */
export function scanCanonicalNumber(bytes: Uint8Array, start: number): number {
  const first = bytes[start] === MINUS ? start + 1 : start;
  const point = behindDigits(bytes, first);
  const whole = point - first;
  if (whole === 0 || (whole > 1 && bytes[first] === ZERO)) return UNSURE;
  const c = bytes[point];
  if (c === DOT) return scanFloat(bytes, start, first, point);
  if (c === LETTER_E) return asReadAndPrinted(bytes, start);
  const isMinusZero = first > start && bytes[first] === ZERO;
  return point - start <= MAX_INT_DIGITS && !isMinusZero ? point : UNSURE;
}

function scanFloat(bytes: Uint8Array, start: number, first: number, point: number): number {
  const end = behindDigits(bytes, point + 1);
  const fraction = end - point - 1;
  // No two decimals of up to 15 digits are the same double, so no shorter decimal has the value of this one. Python
  // prints it in the same way, unless it ends in a zero that can be dropped. From 1 to 1e15 there is no exponent.
  const isShortest = bytes[end - 1] !== ZERO ? fraction > 0 : fraction === 1;
  if (bytes[first] !== ZERO && isShortest && end - first - 1 <= SURE_DIGITS && bytes[end] !== LETTER_E)
    return end;
  return asReadAndPrinted(bytes, start);
}

function behindDigits(bytes: Uint8Array, start: number): number {
  let at = start;
  while ((bytes[at] as number) >= ZERO && (bytes[at] as number) <= NINE) at++;
  return at;
}

/** Scans a float by reading it and printing it again. */
function asReadAndPrinted(bytes: Uint8Array, start: number): number {
  let digits = "";
  let at = start;
  for (; ; at++) {
    const c = bytes[at] as number;
    const isOfNumber = (c >= ZERO && c <= NINE) || c === DOT || c === LETTER_E || c === MINUS || c === PLUS;
    if (!isOfNumber) break;
    digits += String.fromCharCode(c);
  }
  const value = Number(digits);
  return Number.isFinite(value) && pythonFloat(value) === digits ? at : UNSURE;
}
