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

  it("has the functions and constants of a pocket calculator", () => {
    const cases: [text: string, value: number][] = [
      ...(["sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp"] as const).map(
        (name) => [`${name}(0.5)`, Math[name](0.5)] as [string, number],
      ),
      ...[
        ["sqrt(9)", 3],
        ["cbrt(27)", 3],
        ["abs(-2)", 2],
        ["floor(-1.5)", -2],
        ["ceil(-1.5)", -1],
        ["ln(e)", 1],
        ["log2(8)", 3],
        ["log10(1000)", 3],
        ["atan2(1, 2)", Math.atan2(1, 2)],
        ["pow(2, 10)", 1024],
        ["hypot(3, 4)", 5],
        ["hypot(1, 2, 2)", 3],
        ["min(3, 1, 2)", 1],
        ["max(7)", 7],
        ["factorial(5)", 120],
        ["0! + 1! + 2!", 4],
        ["3!!", 720],
        ["170! / 169!", 170],
        ["tau / pi", 2],
        ["7 % 4", 3],
        ["10 - 2 - 3", 5],
        ["20 / 2 / 5", 2],
        ["+5", 5],
        ["2 ^ +2", 4],
        ["2 * -3", -6],
        ["  1\t+\n2  ", 3],
        ["1e-2 + 1E+2", 100.01],
        ["5.", 5],
      ].map((one) => one as [string, number]),
    ];
    for (const [text, value] of cases)
      expect(worthOf(text), text).to.be.closeTo(value, Math.abs(value) * 1e-12);
    expect(worthOf(`max(${Array(64).fill(1).join(",")})`)).to.equal(1);
    expect(worthOf(`hypot(${Array(16).fill(1).join(",")})`)).to.equal(4);
  });

  it("gives how far the value may be from the exact one: nothing for whole numbers, and more where large numbers cancel", () => {
    const errorOf = (text: string) => evaluateExpression(text, { a: -9 }).error;
    const exact = ["2 + 3", "5 * 4 - 19", "8 / 2", "17 % 5", "a + 1", "4!", "2 ^ 5 - 31", "max(7, 8)"];
    for (const text of exact) expect(errorOf(text), text).to.equal(0);
    for (const text of ["0.5 + 0.25", "3 / 1024"]) expect(errorOf(text), text).to.equal(0);
    for (const text of ["0.1", "1 / 2048"]) expect(errorOf(text), text).to.be.greaterThan(0);
    // Only one side of 0 has a root, and only one side of 1 has an arc.
    for (const text of ["sqrt(0.1 * 10 - 1)", "acos(0.1 * 10)"])
      expect(errorOf(text), text).to.be.within(1e-8, 1e-7);
    expect(errorOf("factorial(0.1 * 10)"), "beside 1 there is none").to.equal(Number.EPSILON);
    expect(errorOf("0.1 * 10")).to.be.within(1.5 * Number.EPSILON, 3 * Number.EPSILON);
    expect(errorOf("1 / 3")).to.be.within(2 ** -54, 2 ** -53);
    // Each of the two quotients may be off by half of the distance between two numbers of this size, which is 2^-4.
    expect(errorOf("1e15 / 3 - 1e15 / 3")).to.be.within(2 ** -4, 2 ** -2);
    expect(errorOf("0.1 + 0.2 - 0.3"), "the exact value is 0").to.be.within(0.1 + 0.2 - 0.3, 1e-15);
  });

  it("says what is wrong with an expression", () => {
    const cases: [text: string, message: string][] = [
      ["", "ends too early"],
      ["1 +", "ends too early"],
      ["(1", "wants ) instead of its end"],
      ["(1 2", "wants ) instead of 2"],
      ["1)", "has ) where nothing is expected"],
      ["foo + 1", "has foo, which is not known"],
      ["foo(1)", "has the function foo, which is not known"],
      ["sin(1, 2)", "gives sin 2 values"],
      ["pow(1)", "gives pow 1 values"],
      ["atan2(1)", "gives atan2 1 values"],
      [`max(${Array(65).fill(1).join(",")})`, "gives max 65 values"],
      [`hypot(${Array(17).fill(1).join(",")})`, "gives hypot 17 values"],
      ["1 $ 2", 'has "$ 2", which is not understood'],
      ["1 & 23456789", 'has "& 23456", which is not understood'],
      ["1 / 0", "has no finite value"],
      ["(-1)!", "has a factorial of something other than a small whole number"],
      ["1.5!", "has a factorial of something other than a small whole number"],
      ["171!", "has a factorial of something other than a small whole number"],
      [`${"(".repeat(65)}1${")".repeat(65)}`, "is nested deeper than 64 levels"],
      ...[`${"-".repeat(65)}1`, `${"+".repeat(65)}1`, `${"1^".repeat(65)}1`, `${"1**".repeat(65)}1`].map(
        (text) => [text, "is nested deeper than 64 levels"] as [string, string],
      ),
      ...["abs(", "max(1,"].map(
        (one) =>
          [`${one.repeat(65)}1${")".repeat(65)}`, "is nested deeper than 64 levels"] as [string, string],
      ),
    ];
    for (const [text, message] of cases) {
      const error = (() => {
        try {
          return evaluateExpression(text);
        } catch (caught) {
          return caught as Error;
        }
      })();
      expect(error, text).to.have.property("message", message);
    }
    expect(worthOf(`${"(".repeat(64)}1${")".repeat(64)}`)).to.equal(1);
    expect(worthOf(`${"-".repeat(64)}1`)).to.equal(1);
    expect(worthOf(`${"max(1,".repeat(64)}1${")".repeat(64)}`)).to.equal(1);
    expect(worthOf("1 ")).to.equal(1);
  });

  it("knows one zero, so the angle of atan2 does not depend on how a zero came about", () => {
    const zeros = ["0", "-0", "0 * -1", "-(3 - 3)", "(-7) % 7", "ceil(-0.5)", "z"];
    for (const zero of zeros) {
      const angle = (y: string, x: string) => evaluateExpression(`atan2(${y}, ${x})`, { z: -0 });
      expect(angle(zero, "-1").value, zero).to.equal(Math.PI);
      expect(angle(zero, "-1").error, zero).to.be.below(1e-15);
      expect(angle(zero, "1").value, zero).to.equal(0);
      expect(angle("1", zero).value, zero).to.equal(Math.PI / 2);
      expect(angle("-1", zero).value, zero).to.equal(-Math.PI / 2);
      for (const other of zeros) expect(angle(zero, other).value, `${zero}, ${other}`).to.equal(0);
    }
    expect(worthOf("atan2(-1, -1)")).to.equal(Math.atan2(-1, -1));
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
