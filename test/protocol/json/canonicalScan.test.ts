import { expect } from "chai";
import fc from "fast-check";
import { scanCanonical as scanBytes } from "tallystick-protocol/json/canonicalScan";
import { dumpsPythonJson, type PyJson, parsePythonJson } from "tallystick-protocol/json/pythonJson";

const scalar = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.string({ unit: "binary" }),
  fc.string(),
  fc.bigInt(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const { value } = fc.letrec<{ value: PyJson }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    scalar as fc.Arbitrary<PyJson>,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.string(), fc.constantFrom("a", "b", "B", "é", "__proto__", "")), tie("value"), {
      maxKeys: 4,
    }),
  ),
}));

/** Scans a text in front of a zero byte, because the scan expects a byte after the text. */
function scanCanonical(text: string, at: number): number {
  return scanBytes(new TextEncoder().encode(`${text}\0`), at);
}

/** Whether the slow reader accepts the text as canonical. */
function isCanonical(text: string): boolean {
  try {
    return dumpsPythonJson(parsePythonJson(text)) === text;
  } catch {
    return false;
  }
}

describe("scanning canonical JSON", () => {
  it("accepts everything that Python prints, except keys that need escapes", () => {
    fc.assert(
      fc.property(value, (json) => {
        const text = dumpsPythonJson(json);
        const end = scanCanonical(text, 0);
        expect(end === text.length || end === -1).to.equal(true);
        if (!text.includes("\\")) expect(end, text).to.equal(text.length);
      }),
      { numRuns: 500 },
    );
  });

  it("after any insertion, deletion or replacement, never accepts text that reading and printing would change", () => {
    const piece = fc.constantFrom(
      " ",
      ",",
      ":",
      '"',
      "{",
      "}",
      "[",
      "]",
      "0",
      "-",
      ".",
      "e",
      "1",
      "\\",
      "\\u00e9",
      "\\u0041",
      "\\/",
      "\\u000a",
      "\u007f",
      "é",
      "null",
      "-0",
      "1.0",
      "1e5",
    );
    fc.assert(
      fc.property(value, fc.nat(), fc.nat({ max: 3 }), piece, (json, position, cut, put) => {
        const text = dumpsPythonJson(json);
        const at = position % (text.length + 1);
        const changed = text.slice(0, at) + put + text.slice(at + cut);
        if (scanCanonical(changed, 0) === changed.length)
          expect(isCanonical(changed), changed).to.equal(true);
      }),
      { numRuns: 3000 },
    );
  });

  for (const text of [
    "-0",
    "-0.0",
    "1e16",
    "1e+16",
    "1E5",
    "01",
    "1.",
    "1.50",
    "0.1",
    "1e400",
    "9007199254740993.0",
    "123456789012345.6",
    "12345678901234.5",
    "-0.5",
    "-1.5",
    "00.5",
    "10.0",
    "-",
    "1.5e5",
    "1.5E5",
    '{"a":1}',
    '{"b": 1, "a": 1}',
    '{"a": 1, "a": 1}',
    '"\\u00E9"',
    '"\\/"',
    '"\\u007f"',
    '"\\u0009"',
    ...['"\\u0020"', '"\\u001f"', '"\\u000b"', '"\\u007e"', '"\\u0080"'],
    ...['"\\u00a/"', '"\\u00a:"', '"\\u00a`"', '"\\u00ag"', '"\\u00a9"', '"\\u00a0"', '"\\u00af"'],
    ...['{"a": 1, "a ": 2}', '{"a": 1, "a!": 2}', '{"a ": 1, "a": 2}', '{"": 1, " ": 2}', '{"!": 1, "": 2}'],
    ...['{"a": 1, "b": }', '{"a": 1 "b": 2}', '{"a": 1,"b": 2}', '{"a": 1, }', "[1 2]", "[1, 2", '{"a": 1'],
    ...["0", "-1", "-10", "10", "-01", "1e", "1e+", "1e+016", "1e-07", "1.5e-07", "1e-7", "--1", "0.0001"],
    ...["1".repeat(4_300), "1".repeat(4_301), "true", "false", "trux", "fals", "falsy", "null"],
    "[1,2]",
    "[1, ]",
    "nul",
    "",
    '"',
  ]) {
    it(`agrees with the slow reader on ${JSON.stringify(text.slice(0, 40))}`, () => {
      expect(scanCanonical(text, 0) === text.length && text !== "").to.equal(isCanonical(text));
    });
  }

  it("agrees with the slow reader on decimals of every length", () => {
    fc.assert(
      fc.property(
        fc.boolean(),
        fc.bigInt({ min: 0n, max: 10n ** 18n }),
        fc.nat({ max: 18 }),
        fc.stringMatching(/^0{0,3}$/),
        (minus, digits, point, zeros) => {
          const text = String(digits).padStart(point + 1, "0");
          const at = text.length - point;
          const decimal = `${minus ? "-" : ""}${text.slice(0, at)}.${text.slice(at)}${zeros}`;
          expect(scanCanonical(decimal, 0) === decimal.length, decimal).to.equal(isCanonical(decimal));
        },
      ),
      { numRuns: 5000 },
    );
  });

  it("leaves text that nests deeper than the limit to the slow reader", () => {
    const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
    expect(scanCanonical(nested(128), 0)).to.equal(256);
    expect(scanCanonical(nested(129), 0)).to.equal(-1);
  });
});
