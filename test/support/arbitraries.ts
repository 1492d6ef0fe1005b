import * as fc from "fast-check";
import type { PyJson } from "tallystick-protocol/json/pythonJson";
import type { RecordJson } from "tallystick-protocol/json/recordBody";

/** Strings of any UTF-16 units, also control characters, astral characters and lone surrogates. */
export const anyString = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: "grapheme-ascii" }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 6 })
    .map((units) => String.fromCharCode(...units)),
  fc
    .array(fc.constantFrom(0xd7ff, 0xd800, 0xd83d, 0xdbff, 0xdc00, 0xde00, 0xdfff, 0xe000, 0xffff, 0x61), {
      maxLength: 5,
    })
    .map((units) => String.fromCharCode(...units)),
);

/** Floats near which the printed form changes: whole numbers, limits of the exponent form, and times. */
const anyFloat = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.double({ noNaN: true, min: 1e-6, max: 1e-3 }),
  fc.double({ noNaN: true, min: 1e14, max: 1e18 }),
  fc.integer(),
  fc.integer({ min: 0, max: 2 ** 31 }).map((ms) => ms / 1000),
);

const anyInt = fc.oneof(fc.bigInt({ min: -(2n ** 300n), max: 2n ** 300n }), fc.maxSafeInteger().map(BigInt));

const anyKey = fc.oneof(anyString, fc.constantFrom("__proto__", "constructor", "10", "9", "-1", ""));

/** Objects, also with keys that a JavaScript literal cannot set (`__proto__`). */
function objectOf<T>(value: fc.Arbitrary<T>): fc.Arbitrary<{ [key: string]: T }> {
  return fc.array(fc.tuple(anyKey, value), { maxLength: 6 }).map((members) => Object.fromEntries(members));
}

/** Any value of Python's JSON. A bigint is an int, and a number is a float. */
export const anyPyJson: fc.Arbitrary<PyJson> = fc.letrec<{ value: PyJson }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom(null, true, false),
    anyString,
    anyInt,
    anyFloat,
    fc.array(tie("value"), { maxLength: 5 }),
    objectOf(tie("value")),
  ),
})).value;

/** Any text that a record may contain. It is well-formed and has no U+0000. */
const anyText = fc
  .oneof(fc.string({ unit: "grapheme" }), fc.string({ unit: "binary" }))
  .map((text) => text.replace(/[\ud800-\udfff]/gu, "").replaceAll("\u0000", ""));

/** Any value that a record may contain. */
export const anyRecordJson: fc.Arbitrary<RecordJson> = fc.letrec<{ value: RecordJson }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom(null, true, false),
    anyText,
    fc.maxSafeInteger(),
    fc.array(tie("value"), { maxLength: 5 }),
    fc.dictionary(anyText, tie("value"), { maxKeys: 6 }),
  ),
})).value;

/** Any body that a record may have. */
export const anyRecordBody = fc.dictionary(anyText, anyRecordJson, { maxKeys: 6, noNullPrototype: true });
