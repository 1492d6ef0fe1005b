import canonicalize from "canonicalize";
import { expect } from "chai";
import * as fc from "fast-check";
import { InvalidInputError } from "tallystick-protocol/errors";
import { dumpsPythonJson, type PyJson, parsePythonJson } from "tallystick-protocol/json/pythonJson";
import {
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

  const refusals: [string, string, string][] = [
    ["a float", '{"a": {"b": [1, 1.5]}}', "body.a.b.1"],
    ["a whole float", '{"a": 1.0}', "body.a"],
    ["an exponent", '{"a": 1e3}', "body.a"],
    ["an integer beyond 2^53 - 1", '{"a": 9007199254740992}', "body.a"],
    ["an integer below -(2^53 - 1)", '{"a": -9007199254740992}', "body.a"],
    ["a lone surrogate", '{"a": "\\ud800"}', "body.a"],
    ["a lone surrogate in a key", '{"\\udc00": 1}', "body.\udc00"],
    ["the NUL character", '{"a": "x\\u0000"}', "body.a"],
    ["an array in place of the object", "[]", "body"],
    ["null in place of the object", "null", "body"],
    ["text in place of the object", '"a"', "body"],
  ];
  for (const [what, text, field] of refusals) {
    it(`are refused with ${what}, and the error names the field`, () => {
      const error = thrownBy(() => recordBodyFromPyJson(parsePythonJson(text), "body"));
      expect(error).to.be.instanceOf(InvalidInputError);
      expect((error as InvalidInputError).issues.map((issue) => issue.field)).to.deep.equal([field]);
    });
  }

  it("cannot be signed with values that JSON or other languages would print differently", () => {
    const bodies: unknown[] = [
      { a: 0.5 },
      { a: undefined },
      { a: 1n },
      { a: "\ud800" },
      { a: "\u0000" },
      { a: Number.NaN },
      { a: 2 ** 53 },
    ];
    for (const body of bodies) {
      expect(() => canonicalBody(body as RecordBody)).to.throw(InvalidInputError, /^a: /);
    }
  });

  it("may have a key named __proto__", () => {
    const text = '{"__proto__":{"a":1}}';
    const body = recordBodyFromPyJson(parsePythonJson(text) as PyJson);
    expect(canonicalBody(body)).to.equal(text);
    expect(dumpsPythonJson(recordBodyToPyJson(body))).to.equal('{"__proto__": {"a": 1}}');
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
