import { createHash } from "node:crypto";
import { expect } from "chai";
import * as fc from "fast-check";
import { JsonValueError } from "tallystick-protocol/json/pythonFloat";
import {
  dumpsPythonJson,
  JsonSyntaxError,
  type PyJson,
  parsePythonJson,
} from "tallystick-protocol/json/pythonJson";
import { anyPyJson } from "../../support/arbitraries.ts";
import { hasPython, python } from "../../support/python.ts";
import { readVectors } from "../../vectors/vectors.ts";

type Vectors = {
  cases: { name: string; text: string; canonical: string; sha256: string }[];
  refused: { name: string; text: string }[];
};

const vectors = readVectors<Vectors>("python-json.json");

describe("Python's JSON", () => {
  describe("golden vectors of json.dumps(json.loads(text), sort_keys=True)", () => {
    for (const { name, text, canonical, sha256 } of vectors.cases) {
      it(`prints as Python does: ${name}`, () => {
        const printed = dumpsPythonJson(parsePythonJson(text));
        expect(printed).to.equal(canonical);
        expect(createHash("sha256").update(printed).digest("hex")).to.equal(sha256);
      });
    }
    for (const { name, text } of vectors.refused) {
      it(`refuses: ${name}`, () => {
        expect(() => parsePythonJson(text)).to.throw(JsonSyntaxError, /at offset \d+$/);
      });
    }
  });

  it("reads the same value from the text that it prints", () => {
    fc.assert(
      fc.property(anyPyJson, (value) => {
        expect(sameJson(parsePythonJson(dumpsPythonJson(value)), value)).to.equal(true);
      }),
      { numRuns: 500 },
    );
  });

  it("prints the same text again after it reads its own text", () => {
    fc.assert(
      fc.property(anyPyJson, (value) => {
        const text = dumpsPythonJson(value);
        expect(dumpsPythonJson(parsePythonJson(text))).to.equal(text);
      }),
      { numRuns: 500 },
    );
  });

  it("prints only printable ASCII", () => {
    fc.assert(fc.property(anyPyJson, (value) => void expect(dumpsPythonJson(value)).to.match(/^[ -~]*$/)));
  });

  it("reads every text that JSON.parse reads, to the same value, except that an int becomes a bigint", () => {
    fc.assert(
      fc.property(fc.json({ noUnicodeString: false } as object), (text) => {
        const value = parsePythonJson(text);
        expect(JSON.stringify(value, (_, item) => (typeof item === "bigint" ? Number(item) : item))).to.equal(
          JSON.stringify(JSON.parse(text)),
        );
      }),
    );
  });

  it("refuses every text that JSON.parse refuses", () => {
    const pieces = fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      '"a"',
      '"',
      "1",
      "-",
      ".",
      "e",
      "0",
      "null",
      "tru",
      " ",
      "\\",
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 8 }), (parts) => {
        const text = parts.join("");
        let refused = false;
        try {
          JSON.parse(text);
        } catch {
          refused = true;
        }
        if (refused) expect(() => parsePythonJson(text)).to.throw(JsonSyntaxError);
        else expect(() => parsePythonJson(text)).not.to.throw();
      }),
      { numRuns: 2000 },
    );
  });

  it("distinguishes an int from a float by its text", () => {
    expect(parsePythonJson("[1, 1.0, 1e0, -0, -0.0]")).to.deep.equal([1n, 1, 1, 0n, -0]);
  });

  it("refuses a repeated key in an object on request, also a key that is written with escapes", () => {
    const refuse = { duplicateKeys: "refuse" } as const;
    for (const text of [
      '{"a": 1, "a": 1}',
      '[{"a": 1, "\\u0061": 2}]',
      '{"__proto__": 1, "__proto__": 1}',
      '{"": 1, "": 2}',
    ]) {
      expect(() => parsePythonJson(text, refuse), text).to.throw(
        JsonSyntaxError,
        /the object has already at offset/,
      );
      expect(() => parsePythonJson(text), text).not.to.throw();
    }
    expect(() =>
      parsePythonJson('{"a": {"a": [{"a": 1}]}, "toString": 1, "hasOwnProperty": 2}', refuse),
    ).not.to.throw();
  });

  it("treats __proto__ like any other key", () => {
    const value = parsePythonJson('{"__proto__": {"polluted": true}}') as { [key: string]: PyJson };
    expect(Object.getPrototypeOf(value)).to.equal(Object.prototype);
    expect(Object.keys(value)).to.deep.equal(["__proto__"]);
    expect("polluted" in value).to.equal(false);
  });

  it("prints the keys in their own order on request, as json.dumps(value) does", () => {
    const text = '{"b": 1, "a": {"d": 2, "c": 3}}';
    expect(dumpsPythonJson(parsePythonJson(text), { sortKeys: false })).to.equal(text);
  });

  it("gives the offset of a fault", () => {
    expect(() => parsePythonJson('{"a": 1, "b": nul}'))
      .to.throw(JsonSyntaxError)
      .with.property("offset", 14);
  });

  for (const [text, reason, offset] of [
    ["", "expected a value: the text ends", 0],
    ["/", "expected a value", 0],
    [":", "expected a value", 0],
    ["trux", "expected a value", 0],
    ["1 x", "text after the end of the value", 2],
    ['{"a" 1}', "expected ':'", 5],
    ['{"a": 1 2}', "expected ',' or '}'", 8],
    ["{1", "expected a key in double quotes", 1],
    ["[1 2]", "expected ',' or ']'", 3],
    ["[1", "expected ',' or ']': the text ends", 2],
    ['"ab', "unterminated string: the text ends", 3],
    ['"a\nb"', "control character in a string", 2],
    ['"a\\xb"', "unknown escape", 3],
    ['"\\u12G4"', "expected four hex digits after \\u", 5],
    ['"\\u12g4"', "expected four hex digits after \\u", 5],
    ['"\\u12@4"', "expected four hex digits after \\u", 5],
    ['"\\u12`4"', "expected four hex digits after \\u", 5],
    ['"\\u12/4"', "expected four hex digits after \\u", 5],
    ['"\\u12:4"', "expected four hex digits after \\u", 5],
    ["-", "expected a digit: the text ends", 1],
    ["1.x", "expected a digit", 2],
    ["1e+", "expected a digit: the text ends", 3],
    ["[-1e999]", "a float beyond the range of a double", 1],
    ["1".repeat(4301), "an integer of more than 4300 digits", 0],
    ["[".repeat(129), "nesting deeper than 128", 128],
  ] as const) {
    it(`reports for ${JSON.stringify(text.slice(0, 12))}: ${reason}`, () => {
      expect(() => parsePythonJson(text))
        .to.throw(JsonSyntaxError, `${reason} at offset ${offset}`)
        .that.includes({ offset, code: "malformed_json" });
    });
  }

  it("accepts hex digits in both cases, and stores the key __proto__ as a normal property", () => {
    expect(parsePythonJson('"\\u00aF\\u00Fa\\u0Aa9"')).to.equal("\u00af\u00fa\u0aa9");
    const value = parsePythonJson('{"__proto__": 1, "a": 2}') as { [key: string]: unknown };
    for (const name of ["__proto__", "a"])
      expect(Object.getOwnPropertyDescriptor(value, name)).to.deep.include({
        writable: true,
        enumerable: true,
        configurable: true,
      });
  });

  it("accepts the four kinds of white space between all signs, and no other kind", () => {
    const spaced = (space: string) => ["", "{", '"a"', ":", "[", "1", ",", "true", "]", "}", ""].join(space);
    for (const space of [" ", "\n", "\r", "\t", " \r\n\t"])
      expect(parsePythonJson(spaced(space)), JSON.stringify(space)).to.deep.equal({ a: [1n, true] });
    for (const other of ["\f", "\v", "\u00a0", "\ufeff", "\u0085", "\b", "!"])
      expect(() => parsePythonJson(spaced(other)), JSON.stringify(other)).to.throw(JsonSyntaxError);
  });

  it("reads every escape", () => {
    expect(parsePythonJson('"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000x"')).to.equal('"\\/\b\f\n\r\t\u0000x');
  });

  it("sorts keys by code points at every level, with lone surrogates between the others", () => {
    const unit = fc.constantFrom(0x20, 0x61, 0xd7ff, 0xd800, 0xdbff, 0xdc00, 0xdfff, 0xe000, 0xffff);
    const key = fc.array(unit, { maxLength: 3 }).map((units) => String.fromCharCode(...units));
    const pointsOf = (text: string) => [...text].map((char) => char.codePointAt(0) as number);
    const compare = (a: string, b: string): number => {
      const [left, right] = [pointsOf(a), pointsOf(b)];
      const at = left.findIndex((point, n) => point !== right[n]);
      return at === -1 ? left.length - right.length : (left[at] as number) - (right[at] ?? -1);
    };
    fc.assert(
      fc.property(fc.uniqueArray(key, { maxLength: 6 }), (keys) => {
        const object = Object.fromEntries(keys.map((name) => [name, null]));
        const printed = parsePythonJson(dumpsPythonJson({ inside: object })) as {
          inside: { [key: string]: PyJson };
        };
        expect(Object.keys(printed.inside)).to.deep.equal(keys.toSorted(compare));
      }),
      { numRuns: 1_000 },
    );
  });

  it("accepts objects nested up to the limit", () => {
    const nested = (depth: number) => `${'{"a":'.repeat(depth - 1)}{}${"}".repeat(depth - 1)}`;
    expect(dumpsPythonJson(parsePythonJson(nested(128))).replaceAll(" ", "")).to.equal(nested(128));
    expect(() => parsePythonJson(nested(129))).to.throw(
      JsonSyntaxError,
      "nesting deeper than 128 at offset 640",
    );
  });

  it("prints empty lists and objects without spaces", () => {
    expect(dumpsPythonJson([[], {}, [[]], { a: {} }])).to.equal('[[], {}, [[]], {"a": {}}]');
  });

  it("accepts an option that lowers the limit of nesting", () => {
    expect(() => parsePythonJson("[[1]]", { maxDepth: 2 })).not.to.throw();
    expect(() => parsePythonJson("[[[1]]]", { maxDepth: 2 })).to.throw(
      JsonSyntaxError,
      /nesting deeper than 2/,
    );
  });

  it("prints floats as repr does, where the form with an exponent begins and ends", () => {
    for (const [value, text] of [
      [0, "0.0"],
      [-0, "-0.0"],
      [0.0001, "0.0001"],
      [-0.0001, "-0.0001"],
      [0.00009999999999999999, "9.999999999999999e-05"],
      [0.00001, "1e-05"],
      [-1.5e-7, "-1.5e-07"],
      [1e-10, "1e-10"],
      [1e-100, "1e-100"],
      [5e-324, "5e-324"],
      [1e15, "1000000000000000.0"],
      [9999999999999998, "9999999999999998.0"],
      [1e16, "1e+16"],
      [-1.25e16, "-1.25e+16"],
      [1e100, "1e+100"],
      [0.5, "0.5"],
      [100, "100.0"],
    ] as const)
      expect(dumpsPythonJson(value), text).to.equal(text);
  });

  it("refuses to print values that JSON cannot express", () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, undefined, () => 1]) {
      expect(() => dumpsPythonJson([value as PyJson])).to.throw(JsonValueError);
    }
    expect(() => dumpsPythonJson(Number.NaN))
      .to.throw("NaN has no JSON form")
      .with.property("code", "not_json");
    expect(() => dumpsPythonJson(undefined as never)).to.throw("undefined has no JSON form");
  });

  if (hasPython) {
    it("agrees with the python3 of this machine on random values and their hashes", () => {
      const values = fc.sample(anyPyJson, 400);
      const program = [
        "import sys, json, hashlib",
        "for line in sys.stdin:",
        "    out = json.dumps(json.loads(line), sort_keys=True)",
        "    print(out, hashlib.sha256(out.encode()).hexdigest())",
      ].join("\n");
      // The input is not sorted, so that Python sorts it.
      const input = values.map((value) => `${dumpsPythonJson(value, { sortKeys: false })}\n`).join("");
      const lines = python(["-c", program], input).trimEnd().split("\n");
      expect(lines).to.have.length(values.length);
      values.forEach((value, i) => {
        const text = dumpsPythonJson(value);
        expect(lines[i]).to.equal(`${text} ${createHash("sha256").update(text).digest("hex")}`);
      });
    });
  }
});

/** Equality that distinguishes 0 from -0, and an int from a float. */
function sameJson(a: PyJson, b: PyJson): boolean {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, i) => sameJson(item, b[i]!));
  if (a !== null && b !== null && typeof a === "object" && typeof b === "object" && !Array.isArray(b)) {
    const left = a as { [key: string]: PyJson };
    const keys = Object.keys(left);
    return (
      keys.length === Object.keys(b).length &&
      keys.every((key) => Object.hasOwn(b, key) && sameJson(left[key]!, b[key]!))
    );
  }
  return Object.is(a, b);
}
