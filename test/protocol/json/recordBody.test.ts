import canonicalize from "canonicalize";
import { expect } from "chai";
import * as fc from "fast-check";
import { InvalidInputError } from "tallystick-protocol/errors";
import { dumpsPythonJson, type PyJson, parsePythonJson } from "tallystick-protocol/json/pythonJson";
import {
  bodyWithout,
  canonicalBody,
  type RecordBody,
  recordBodyFromPyJson,
  recordBodyToPyJson,
} from "tallystick-protocol/json/recordBody";
import { anyRecordBody } from "../../support/arbitraries.ts";

describe("record bodies", () => {
  it("have the canonical text of RFC 8785", () => {
    fc.assert(
      fc.property(anyRecordBody, (body) => void expect(canonicalBody(body)).to.equal(canonicalize(body))),
    );
  });

  it("are unchanged after they are written to a ledger and read back", () => {
    fc.assert(
      fc.property(anyRecordBody, (body) => {
        const stored = parsePythonJson(dumpsPythonJson(recordBodyToPyJson(body)));
        expect(canonicalBody(recordBodyFromPyJson(stored))).to.equal(canonicalBody(body));
      }),
    );
  });

  it("give the same signature for 0 and -0", () => {
    expect(canonicalBody(recordBodyFromPyJson(parsePythonJson('{"a": -0}')))).to.equal('{"a":0}');
    expect(canonicalBody({ a: -0 })).to.equal('{"a":0}');
  });

  const float = "must not be a float; use an integer or a decimal string";
  const range = "must be an integer within ±(2^53 - 1); write a larger integer as a string";
  const lone = "has a surrogate without its partner, which is not a character";
  const none = "must be an object";
  const refusals: [string, string, string, string][] = [
    ["a float", '{"a": {"b": [1, 1.5]}}', "body.a.b.1", float],
    ["a whole float", '{"a": 1.0}', "body.a", float],
    ["an exponent", '{"a": 1e3}', "body.a", float],
    ["an integer beyond 2^53 - 1", '{"a": 9007199254740992}', "body.a", range],
    ["an integer below -(2^53 - 1)", '{"a": -9007199254740992}', "body.a", range],
    ["a lone surrogate", '{"a": "\\ud800"}', "body.a", lone],
    ["a lone surrogate in a key", '{"\\udc00": 1}', "body.\udc00", lone],
    ["the NUL character", '{"a": "x\\u0000"}', "body.a", "has the NUL character, which cannot be stored"],
    ["an array in place of the object", "[]", "body", none],
    ["null in place of the object", "null", "body", none],
    ["text in place of the object", '"a"', "body", none],
  ];
  for (const [what, text, field, message] of refusals) {
    it(`are refused with ${what}, and the error names the field`, () => {
      const error = thrownBy(() => recordBodyFromPyJson(parsePythonJson(text), "body"));
      expect(error).to.be.instanceOf(InvalidInputError);
      expect((error as InvalidInputError).issues).to.deep.equal([{ field, message }]);
    });
  }

  it("cannot be signed with values that JSON or other languages would print differently", () => {
    const number = "must be a safe integer; floats cannot be signed";
    for (const [value, message] of [
      [0.5, number],
      [Number.NaN, number],
      [2 ** 53, number],
      [undefined, "must be JSON, not undefined"],
      [1n, "must be JSON, not bigint"],
      ["\ud800", lone],
      ["\u0000", "has the NUL character, which cannot be stored"],
    ] as const) {
      const body = { a: [{ b: value }] } as unknown as RecordBody;
      expect(() => canonicalBody(body))
        .to.throw(InvalidInputError)
        .with.property("issues")
        .that.deep.equals([{ field: "a.0.b", message }]);
    }
    expect(canonicalBody({ a: Number.MAX_SAFE_INTEGER })).to.equal('{"a":9007199254740991}');
  });

  it("may have a key named __proto__", () => {
    const text = '{"__proto__":{"a":1}}';
    const body = recordBodyFromPyJson(parsePythonJson(text) as PyJson);
    expect(canonicalBody(body)).to.equal(text);
    expect(dumpsPythonJson(recordBodyToPyJson(body))).to.equal('{"__proto__": {"a": 1}}');
    for (const object of [body, recordBodyToPyJson(body)])
      expect(Object.getOwnPropertyDescriptor(object, "__proto__")).to.include({
        writable: true,
        enumerable: true,
        configurable: true,
      });
  });

  it("lose one key in a copy, and only there", () => {
    const body = { a: 1, signature: "0x00", b: { signature: "0x01" } };
    expect(bodyWithout(body, "signature")).to.deep.equal({ a: 1, b: { signature: "0x01" } });
    expect(body.signature).to.equal("0x00");
    expect(bodyWithout(body, "missing")).to.deep.equal(body);
  });
});

function thrownBy(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}
