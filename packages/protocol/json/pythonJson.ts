import { TallystickError } from "../errors.ts";
import { JsonValueError, pythonFloat } from "./pythonFloat.ts";

/**
 * JSON as Python sees it: **bigint is a Python int, number is a Python float** (`1n` prints `1`, `1` prints `1.0`). So
 * a value keeps its hash when it is read and printed again.
 */
export type PyJson = null | boolean | string | bigint | number | PyJson[] | { [key: string]: PyJson };

/** Deepest nesting of arrays and objects that the reader accepts. */
export const MAX_JSON_DEPTH = 128;

/** Python's own limit on the digits of an int read from text (`sys.int_info.default_max_str_digits`). */
export const MAX_INT_DIGITS = 4300;

/** The text is not JSON, or JSON that this reader refuses. `offset` counts UTF-16 units from 0. */
export class JsonSyntaxError extends TallystickError {
  readonly offset: number;

  constructor(reason: string, offset: number) {
    super({ code: "malformed_json", message: `${reason} at offset ${offset}` });
    this.offset = offset;
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

export type ParseOptions = {
  /** The deepest nesting that is accepted. Default: {@link MAX_JSON_DEPTH}. */
  maxDepth?: number;
  /**
   * `last` (default): the last of duplicate keys wins, as in Python. `refuse`: such text is an error, because
   * two readers might take different values.
   */
  duplicateKeys?: "last" | "refuse";
};

/** A recursive-descent reader over one text; `at` is the offset of the next unread UTF-16 unit. */
class Reader {
  private readonly text: string;
  private readonly maxDepth: number;
  private readonly refusesDuplicates: boolean;
  private at = 0;

  constructor(text: string, { maxDepth = MAX_JSON_DEPTH, duplicateKeys }: ParseOptions) {
    this.text = text;
    this.maxDepth = maxDepth;
    this.refusesDuplicates = duplicateKeys === "refuse";
  }

  document(): PyJson {
    this.space();
    const value = this.value(0);
    this.space();
    if (this.at !== this.text.length) this.fail("text after the end of the value");
    return value;
  }

  private fail(reason: string, offset = this.at): never {
    throw new JsonSyntaxError(offset >= this.text.length ? `${reason}: the text ends` : reason, offset);
  }

  private space(): void {
    const { text } = this;
    let at = this.at;
    for (;;) {
      const c = text.charCodeAt(at);
      if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) break;
      at++;
    }
    this.at = at;
  }

  private value(depth: number): PyJson {
    const c = this.text.charCodeAt(this.at);
    switch (c) {
      case QUOTE:
        return this.string();
      case 0x7b:
        return this.object(depth + 1);
      case 0x5b:
        return this.array(depth + 1);
      case 0x74:
        return this.word("true", true);
      case 0x66:
        return this.word("false", false);
      case 0x6e:
        return this.word("null", null);
      default:
        if (c === 0x2d || (c >= 0x30 && c <= 0x39)) return this.number();
        return this.fail("expected a value");
    }
  }

  private word<T>(word: string, value: T): T {
    if (!this.text.startsWith(word, this.at)) this.fail("expected a value");
    this.at += word.length;
    return value;
  }

  private object(depth: number): { [key: string]: PyJson } {
    if (depth > this.maxDepth) this.fail(`nesting deeper than ${this.maxDepth}`);
    const { text } = this;
    const object: { [key: string]: PyJson } = {};
    this.at++;
    this.space();
    if (text.charCodeAt(this.at) === 0x7d) {
      this.at++;
      return object;
    }
    for (;;) {
      if (text.charCodeAt(this.at) !== QUOTE) this.fail("expected a key in double quotes");
      const keyAt = this.at;
      const key = this.string();
      if (this.refusesDuplicates && Object.hasOwn(object, key))
        this.fail("a key that the object has already", keyAt);
      this.space();
      if (text.charCodeAt(this.at) !== 0x3a) this.fail("expected ':'");
      this.at++;
      this.space();
      const value = this.value(depth);
      if (key === "__proto__") {
        Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
      } else {
        object[key] = value;
      }
      this.space();
      const c = text.charCodeAt(this.at);
      if (c === 0x7d) {
        this.at++;
        return object;
      }
      if (c !== 0x2c) this.fail("expected ',' or '}'");
      this.at++;
      this.space();
    }
  }

  private array(depth: number): PyJson[] {
    if (depth > this.maxDepth) this.fail(`nesting deeper than ${this.maxDepth}`);
    const { text } = this;
    const array: PyJson[] = [];
    this.at++;
    this.space();
    if (text.charCodeAt(this.at) === 0x5d) {
      this.at++;
      return array;
    }
    for (;;) {
      array.push(this.value(depth));
      this.space();
      const c = text.charCodeAt(this.at);
      if (c === 0x5d) {
        this.at++;
        return array;
      }
      if (c !== 0x2c) this.fail("expected ',' or ']'");
      this.at++;
      this.space();
    }
  }

  private string(): string {
    const { text } = this;
    let start = ++this.at;
    let at = start;
    let out = "";
    for (;;) {
      const c = text.charCodeAt(at);
      if (c === QUOTE) {
        this.at = at + 1;
        return out + text.slice(start, at);
      }
      if (c === BACKSLASH) {
        out += text.slice(start, at);
        this.at = at + 1;
        out += this.escape();
        at = this.at;
        start = at;
      } else if (c >= 0x20) {
        at++;
      } else {
        this.fail(at >= text.length ? "unterminated string" : "control character in a string", at);
      }
    }
  }

  private escape(): string {
    const c = this.text.charCodeAt(this.at++);
    switch (c) {
      case QUOTE:
        return '"';
      case BACKSLASH:
        return "\\";
      case 0x2f:
        return "/";
      case 0x62:
        return "\b";
      case 0x66:
        return "\f";
      case 0x6e:
        return "\n";
      case 0x72:
        return "\r";
      case 0x74:
        return "\t";
      case 0x75:
        break;
      default:
        return this.fail("unknown escape", this.at - 1);
    }
    let unit = 0;
    for (let i = 0; i < 4; i++) {
      const d = this.text.charCodeAt(this.at);
      if (d >= 0x30 && d <= 0x39) unit = unit * 16 + d - 0x30;
      else if (d >= 0x61 && d <= 0x66) unit = unit * 16 + d - 0x57;
      else if (d >= 0x41 && d <= 0x46) unit = unit * 16 + d - 0x37;
      else this.fail("expected four hex digits after \\u");
      this.at++;
    }
    return String.fromCharCode(unit);
  }

  private digits(): void {
    const { text } = this;
    const start = this.at;
    let at = start;
    for (;;) {
      const c = text.charCodeAt(at);
      if (!(c >= 0x30 && c <= 0x39)) break;
      at++;
    }
    this.at = at;
    if (at === start) this.fail("expected a digit");
  }

  private number(): bigint | number {
    const { text } = this;
    const start = this.at;
    if (text.charCodeAt(start) === 0x2d) this.at++;
    const first = this.at;
    if (text.charCodeAt(first) === 0x30) this.at++;
    else this.digits();
    const digits = this.at - first;
    let float = false;
    if (text.charCodeAt(this.at) === 0x2e) {
      float = true;
      this.at++;
      this.digits();
    }
    const e = text.charCodeAt(this.at);
    if (e === 0x65 || e === 0x45) {
      float = true;
      this.at++;
      const sign = text.charCodeAt(this.at);
      if (sign === 0x2b || sign === 0x2d) this.at++;
      this.digits();
    }
    if (float) {
      const number = Number(text.slice(start, this.at));
      if (!Number.isFinite(number)) this.fail("a float beyond the range of a double", start);
      return number;
    }
    if (digits <= 15) return BigInt(Number(text.slice(start, this.at)));
    if (digits > MAX_INT_DIGITS) this.fail(`an integer of more than ${MAX_INT_DIGITS} digits`, start);
    return BigInt(text.slice(start, this.at));
  }
}

/**
 * Reads strict JSON (RFC 8259) as Python's `json.loads` does. An int has at most {@link MAX_INT_DIGITS} digits. The
 * spelling decides what is a float (`1.0` and `1e0` are). The last of duplicate keys wins, unless they are refused. A
 * lone `\ud800` is kept. Unlike Python it refuses `NaN`, `Infinity`, floats that overflow, and nesting beyond
 * `maxDepth`.
 *
 * @throws JsonSyntaxError with the offset
 */
export function parsePythonJson(text: string, options: ParseOptions = {}): PyJson {
  return new Reader(text, options).document();
}

/** Compares by code point, as Python does. UTF-16 order differs where U+E000–U+FFFF meets astral characters. */
function compareCodePoints(a: string, b: string): number {
  const end = Math.min(a.length, b.length);
  for (let i = 0; i < end; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    // If one unit is below the surrogates, the units have the same order as the characters.
    if (x < 0xd800 || y < 0xd800) return x - y;
    const inPairA = endsPair(a, i);
    const inPairB = endsPair(b, i);
    if (inPairA && inPairB) return x - y;
    if (inPairA || inPairB) return inPairA ? 1 : -1;
    return (a.codePointAt(i) as number) - (b.codePointAt(i) as number);
  }
  return a.length - b.length;
}

/** Whether the unit at `i` is the second half of an astral character. */
function endsPair(text: string, i: number): boolean {
  const unit = text.charCodeAt(i);
  const before = text.charCodeAt(i - 1);
  return unit >= 0xdc00 && unit <= 0xdfff && before >= 0xd800 && before <= 0xdbff;
}

/** The keys of an object in Python's sort order. */
function sortedKeys(object: { [key: string]: PyJson }): string[] {
  const keys = Object.keys(object);
  for (let i = 1; i < keys.length; i++) {
    if (compareCodePoints(keys[i - 1] as string, keys[i] as string) > 0) return keys.sort(compareCodePoints);
  }
  return keys;
}

const NEEDS_ESCAPE = /["\\]|[^ -~]/;
const ESCAPED_UNIT = /["\\]|[^ -~]/g;
const SHORT_ESCAPES: { [char: string]: string } = {
  '"': '\\"',
  "\\": "\\\\",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\f": "\\f",
  "\b": "\\b",
};

function escapeUnit(unit: string): string {
  return SHORT_ESCAPES[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function quote(text: string): string {
  return NEEDS_ESCAPE.test(text) ? `"${text.replace(ESCAPED_UNIT, escapeUnit)}"` : `"${text}"`;
}

function write(value: PyJson, sortKeys: boolean): string {
  switch (typeof value) {
    case "string":
      return quote(value);
    case "bigint":
      return value.toString();
    case "number":
      return pythonFloat(value);
    case "boolean":
      return value ? "true" : "false";
    case "object":
      break;
    default:
      throw new JsonValueError(`${typeof value} has no JSON form`);
  }
  if (value === null) return "null";
  if (Array.isArray(value)) {
    let out = "[";
    for (let i = 0; i < value.length; i++) {
      if (i > 0) out += ", ";
      out += write(value[i] as PyJson, sortKeys);
    }
    return `${out}]`;
  }
  const keys = sortKeys ? sortedKeys(value) : Object.keys(value);
  let out = "{";
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string;
    out += i > 0 ? `, ${quote(key)}: ` : `${quote(key)}: `;
    out += write(value[key] as PyJson, sortKeys);
  }
  return `${out}}`;
}

/**
 * Exactly Python's `json.dumps(value, sort_keys=True)` (swarm.at §5.3): `", "` and `": "`, keys in code point
 * order at every level, everything outside 0x20–0x7E as lower-case `\uXXXX`. The result is pure ASCII.
 *
 * @param options.sortKeys false keeps the order of the keys, as `json.dumps(value)` does
 * @example dumpsPythonJson({ b: 1n, a: 1 }) // '{"a": 1.0, "b": 1}'
 * @throws JsonValueError for NaN, infinities and values that are not JSON
 */
export function dumpsPythonJson(value: PyJson, options: { sortKeys?: boolean } = {}): string {
  return write(value, options.sortKeys ?? true);
}
