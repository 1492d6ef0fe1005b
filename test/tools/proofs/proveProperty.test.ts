import { readdirSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";
import { openSolver, type Solver } from "../../../tools/proofs/openSolver.ts";
import { properties } from "../../../tools/proofs/properties.ts";
import { applyChange, proveProperty } from "../../../tools/proofs/proveProperty.ts";

/** The proofs of the ledger. The solver needs about five seconds for each inserted fault, so only `npm run prove` tries these. */
const SLOW = ["NeverShrinks", "MarkedForGood", "WriterStays", "WriterChangesInTurn"];

describe("tools/proofs/proveProperty", function () {
  this.timeout(300_000);
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

    const [first] = property.faults;
    if (first === undefined) throw new Error(`No fault is defined for: ${property.claim}`);
    const refuted = SLOW.includes(property.contract) ? [] : [first];
    for (const fault of refuted) {
      it(`cannot prove this when ${fault.what}`, async () => {
        const { verdicts } = await proveProperty(property, solver, fault);
        expect(verdicts).to.include("refuted");
      });
    }
    // `npm run prove` tries to prove the property with each of these faults.
    for (const fault of property.faults.filter((it) => !refuted.includes(it))) {
      it(`can still insert the fault: ${fault.what}`, () => {
        expect(() => applyChange(fault)).to.not.throw();
      });
    }
  }

  // Hardhat does not build these contracts, so no other program would compile one that has no property.
  it("has a property for each contract of the proofs", () => {
    const files = readdirSync(path.join(repositoryRoot, "contracts", "test", "proofs"));
    const contracts = files.filter((file) => file.endsWith(".sol")).map((file) => path.parse(file).name);
    expect(contracts).to.have.members(properties.map(({ contract }) => contract));
  });

  it("inserts a fault only if the text to replace occurs exactly once", () => {
    const file = "contracts/EscrowBook.sol";
    const change = { what: "", file, replace: "" };
    expect(() => applyChange({ ...change, find: "no such text" })).to.throw("has 0 of these, not 1");
    expect(() => applyChange({ ...change, find: "amount" })).to.throw("not 1: amount");
    expect(applyChange({ ...change, find: "a b" }, { [file]: "[a b]" })).to.equal("[]");
  });
});
