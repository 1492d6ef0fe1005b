import { expect } from "chai";
import type { Mutant } from "../../../tools/mutation/mutant.ts";
import { judge } from "../../../tools/mutation/verdicts.ts";

describe("tools/mutation/verdicts", () => {
  const mutant = (id: string, outcome: string) =>
    ({ id, file: "A.sol", outcome }) as Mutant & { outcome: string };
  const argument = (id: string, file = "A.sol") => ({ file, id, reason: "it makes no difference" });
  const known = [{ file: "A.sol", ids: ["a", "b", "c"] }];

  it("finds survivors without an argument", () => {
    const outcomes = [mutant("a", "survived"), mutant("b", "survived"), mutant("c", "killed")];
    const { unargued, stale } = judge(outcomes, [argument("a")], known);
    expect(unargued.map(({ id }) => id)).to.deep.equal(["b"]);
    expect(stale).to.deep.equal([]);
  });

  it("finds arguments about killed or removed mutants, and ignores arguments about other files", () => {
    const argued = [argument("a"), argument("gone"), argument("x", "B.sol"), argument("b")];
    const { stale } = judge([mutant("a", "killed")], argued, known);
    expect(stale.map(({ id }) => id)).to.deep.equal(["a", "gone"]);
  });
});
