import { expect } from "chai";
import fc from "fast-check";
import { InvalidInputError } from "tallystick-protocol/errors";
import { jsonText } from "tallystick-protocol/json/jsonText";

function refusalOf(value: unknown, path?: string): unknown {
  try {
    return jsonText(value, path);
  } catch (error) {
    expect(error).to.be.instanceOf(InvalidInputError);
    return (error as InvalidInputError).issues;
  }
}

describe("the JSON of a value that a caller gave", () => {
  it("is that of JSON.stringify for every value of JSON", () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => jsonText(value) === JSON.stringify(value)));
  });

  it("is refused for every number that JSON cannot write, with the field of each", () => {
    const message = (number: number) => `must be a finite number, not ${number}`;
    const value = { most: NaN, none: null, where: { price: [1, Infinity, -Infinity] } };
    expect(refusalOf(value)).to.deep.equal([
      { field: "most", message: message(NaN) },
      { field: "where.price.1", message: message(Infinity) },
      { field: "where.price.2", message: message(-Infinity) },
    ]);
    expect(refusalOf({ limit: NaN }, "variables")).to.deep.equal([
      { field: "variables.limit", message: message(NaN) },
    ]);
    expect(refusalOf(NaN, "amount")).to.deep.equal([{ field: "amount", message: message(NaN) }]);
  });

  it("may have null, and texts with that word", () => {
    expect(jsonText(undefined)).to.equal(undefined);
    expect(jsonText({ a: null, b: ["null"] })).to.equal('{"a":null,"b":["null"]}');
  });
});
