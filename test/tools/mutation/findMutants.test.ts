import { expect } from "chai";
import type { AstNode } from "../../../tools/mutation/astNode.ts";
import { findMutants } from "../../../tools/mutation/findMutants.ts";
import { applyMutant } from "../../../tools/mutation/mutant.ts";

describe("tools/mutation/findMutants", () => {
  const source = "if (a <= b) revert(); // ≤\nx = hire.buyer;\nif (a <= b) revert();\n";
  const at = (text: string, from = 0) => {
    const start = Buffer.from(source).indexOf(text, from);
    return { start, src: `${start}:${Buffer.byteLength(text)}:0` };
  };
  const identifier = (name: string, from: number): AstNode => ({
    nodeType: "Identifier",
    src: at(name, from).src,
  });
  const comparison = (from: number): AstNode => {
    const { start, src } = at("a <= b", from);
    return {
      nodeType: "IfStatement",
      src,
      condition: {
        nodeType: "BinaryOperation",
        operator: "<=",
        src,
        leftExpression: identifier("a", start),
        rightExpression: identifier("b", start),
      },
    };
  };
  const buyer: AstNode = {
    nodeType: "MemberAccess",
    src: at("hire.buyer").src,
    memberName: "buyer",
    typeDescriptions: { typeString: "address" },
  };
  const body = (statements: AstNode[]): AstNode => ({
    nodeType: "FunctionDefinition",
    name: "check",
    src: "0:0:0",
    statements,
  });

  it("changes operators to similar ones, conditions to true and false, and addresses to others", () => {
    const mutants = findMutants("A.sol", source, body([comparison(0), buyer]));
    expect(
      mutants.map((mutant) => applyMutant(source, mutant).split("\n").slice(0, 2).join(" ")),
    ).to.have.members([
      "if (true) revert(); // ≤ x = hire.buyer;",
      "if (false) revert(); // ≤ x = hire.buyer;",
      "if (a < b) revert(); // ≤ x = hire.buyer;",
      "if (a > b) revert(); // ≤ x = hire.buyer;",
      "if (a <= b) revert(); // ≤ x = hire.seller;",
    ]);
  });

  it("removes statements with their semicolon, except the step of a loop", () => {
    const step = "for (;;i++) {}\nrun();\n";
    const statement = (text: string): AstNode => ({
      nodeType: "ExpressionStatement",
      src: `${step.indexOf(text)}:${text.length}:0`,
    });
    const mutants = findMutants("A.sol", step, body([statement("i++"), statement("run()")]));
    expect(mutants.map((mutant) => applyMutant(step, mutant))).to.deep.equal(["for (;;i++) {}\n{}\n"]);
  });

  it("replaces required conditions by true and false", () => {
    const call = "require(ok, No());";
    const node: AstNode = {
      nodeType: "FunctionCall",
      src: "0:17:0",
      expression: { nodeType: "Identifier", name: "require", src: "0:7:0" },
      arguments: [
        { nodeType: "Identifier", src: "8:2:0" },
        { nodeType: "Identifier", src: "12:4:0" },
      ],
    };
    const mutants = findMutants("A.sol", call, body([node]));
    expect(mutants.map((mutant) => applyMutant(call, mutant))).to.deep.equal([
      "require(true, No());",
      "require(false, No());",
    ]);
  });

  it("gives the place where the code can choose a mutant, and none for a constant", () => {
    const [mutant] = findMutants("A.sol", source, body([buyer]));
    const { start } = at("hire.buyer");
    expect(mutant?.choice).to.deep.equal({ form: "expression", start, end: start + "hire.buyer".length });
    const constant = { nodeType: "VariableDeclaration", name: "C", constant: true, value: buyer };
    expect(findMutants("A.sol", source, body([constant]))[0]).not.to.have.property("choice");
  });

  it("counts bytes instead of characters", () => {
    const [mutant] = findMutants("A.sol", source, body([buyer]));
    expect(mutant).to.include({ original: "hire.buyer", line: 2 });
  });

  it("gives equal changes in one function different names, which do not depend on the line", () => {
    const second = at("a <= b").start + 10;
    const ids = findMutants("A.sol", source, body([comparison(0), comparison(second)])).map(({ id }) => id);
    expect(ids).to.include.members(["check|operator|<= → <|1", "check|operator|<= → <|2"]);
    expect(new Set(ids).size).to.equal(ids.length);
  });
});
