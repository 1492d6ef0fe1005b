import { expect } from "chai";
import * as fc from "fast-check";
import { evaluateExpression } from "tallystick-capabilities/checks/evaluateExpression";

const worthOf = (text: string, variables?: { [name: string]: number }): number =>
  evaluateExpression(text, variables).value;

describe("evaluateExpression", () => {
  it("follows the order of operations", () => {
    expect(worthOf("1 + 2 * 3 - 4 / 2")).to.equal(5);
    expect(worthOf("2 ^ 3 ^ 2")).to.equal(512);
    expect(worthOf("2 ** -1")).to.equal(0.5);
    expect(worthOf("-2 ^ 2")).to.equal(-4);
    expect(worthOf("--3")).to.equal(3);
    expect(worthOf("3! + 2")).to.equal(8);
    expect(worthOf("-7 % 3")).to.equal(-1);
    expect(worthOf("max(1, 2, min(9, 4))")).to.equal(4);
    expect(worthOf("1.5e3 + .5")).to.equal(1500.5);
  });

  it("reads variables, which may have the name of a constant", () => {
    expect(worthOf("a * pi", { a: 2 })).to.equal(2 * Math.PI);
    expect(worthOf("e", { e: 3 })).to.equal(3);
  });

  it("agrees with JavaScript on sums and products", () => {
    const number = fc
      .integer({ min: -1000, max: 1000 })
      .map((value) => (value < 0 ? `(${value})` : String(value)));
    const expression = fc.letrec<{ node: string; leaf: string }>((tie) => ({
      leaf: number,
      node: fc.oneof(
        { maxDepth: 4 },
        tie("leaf"),
        fc
          .tuple(tie("node"), fc.constantFrom("+", "-", "*"), tie("node"))
          .map(([a, sign, b]) => `(${a} ${sign} ${b})`),
      ),
    })).node;
    fc.assert(fc.property(expression, (text) => worthOf(text) === Number(new Function(`return ${text}`)())));
  });

  it("refuses text that is not a valid expression", () => {
    for (const text of [
      "",
      "1 +",
      "(1",
      "1)",
      "2 3",
      "foo",
      "foo(1)",
      "log(10)",
      "1 / 0",
      "sqrt(-1)",
      "171!",
      "constructor",
      "a.b",
      "1; 2",
      "sin()",
      "__proto__",
      "toString(1)",
    ]) {
      expect(() => evaluateExpression(text), text).to.throw();
    }
  });

  it("limits the depth of nesting and the size of the value", () => {
    expect(() => evaluateExpression("(".repeat(5000))).to.throw("nested");
    expect(() => evaluateExpression(`${"-".repeat(5000)}1`)).to.throw("nested");
    expect(() => evaluateExpression("9^9^9^9")).to.throw("finite");
  });
});
