import { expect } from "chai";
import { openSolver, type Solver } from "../../../scripts/proofs/openSolver.ts";
import { properties } from "../../../scripts/proofs/properties.ts";
import { applyChange, proveProperty } from "../../../scripts/proofs/proveProperty.ts";

describe("scripts/proofs/proveProperty", function () {
  this.timeout(120_000);
  let solver: Solver;
  before(async () => {
    solver = await openSolver();
  });
  after(() => solver.close());

  for (const property of properties) {
    it(`proves: ${property.claim}`, async () => {
      const { proved, verdicts } = await proveProperty(property, solver);
      expect(proved, verdicts.join()).to.equal(true);
    });

    for (const bug of property.bugs) {
      it(`loses that proof when ${bug.what}`, async () => {
        const { verdicts } = await proveProperty(property, solver, bug);
        expect(verdicts).to.include("refuted");
      });
    }
  }

  it("plants a change only where its text stands exactly once", () => {
    const file = "contracts/EscrowBook.sol";
    const change = { what: "", file, replace: "" };
    expect(() => applyChange({ ...change, find: "no such text" })).to.throw("has 0 of these, not 1");
    expect(() => applyChange({ ...change, find: "amount" })).to.throw("not 1: amount");
    expect(applyChange({ ...change, find: "a b" }, { [file]: "[a b]" })).to.equal("[]");
  });
});
