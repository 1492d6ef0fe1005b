import { expect } from "chai";
import { judgeRoom } from "../../../tools/mutation/typescript/judgeRoom.ts";
import { type MutantStatus, mutantsOf } from "../../../tools/mutation/typescript/mutantsOf.ts";

describe("a mutated room of the TypeScript code", () => {
  const runs = (statuses: MutantStatus[], file = "a.ts") =>
    statuses.map((status, number) => ({ file, id: `m${number}`, line: number + 1, status }));
  const argument = (id: string, file = "a.ts") => ({ file, id, reason: "it makes no difference" });
  const nine: MutantStatus[] = new Array(9).fill("Killed");

  it("passes if nine of ten mutants are noticed, with endless and crashing mutants, but not with mutants without a test", () => {
    const good = judgeRoom(runs([...nine, "Survived"]), []);
    expect([good.isGood, good.percent]).to.deep.equal([true, 90]);
    expect(judgeRoom(runs([...nine, "Survived", "NoCoverage"]), []).isGood).to.equal(false);
    const stopped = judgeRoom(runs(["Timeout", "Ignored", "CompileError", "RuntimeError"]), []);
    expect([stopped.noticed, stopped.percent, stopped.leftOut]).to.deep.equal([2, 100, 1]);
    expect(stopped.files).to.deep.equal([["a.ts", 2, 2, 0, 0, 0, "100.0"]]);
    expect(judgeRoom([], []).isGood).to.equal(true);
  });

  it("does not count a survivor with an argument, and does not pass with an argument about no survivor", () => {
    const all = runs([...nine, "Survived", "NoCoverage"]);
    const { isGood, survivors, files } = judgeRoom(all, [argument("m10")]);
    expect([isGood, survivors.map(({ id }) => id)]).to.deep.equal([true, ["m9"]]);
    expect(files).to.deep.equal([["a.ts", 9, 0, 1, 0, 1, "90.0"]]);
    for (const stale of [argument("m0"), argument("gone")]) {
      const verdict = judgeRoom(all, [argument("m10"), stale]);
      expect([verdict.isGood, verdict.stale]).to.deep.equal([false, [stale]]);
    }
  });

  it("has the same names for mutants when their lines move", () => {
    const mutant = (line: number, from: number, to: number, replacement: string) => ({
      mutatorName: "Op",
      replacement,
      location: { start: { line, column: from }, end: { line, column: to } },
      status: "Killed" as const,
    });
    const source = "const x = a < b;\nconst y = a < b;\n";
    const mutants = [mutant(2, 11, 16, "a > b"), mutant(1, 11, 16, "a > b"), mutant(1, 1, 6, "")];
    const names = (text: string, at: number) =>
      mutantsOf({
        files: {
          "a.ts": {
            source: text,
            mutants: mutants.map(({ location: { start, end }, ...rest }) => ({
              ...rest,
              location: {
                start: { ...start, line: start.line + at },
                end: { ...end, line: end.line + at },
              },
            })),
          },
        },
      }).map(({ id }) => id);
    expect(names(source, 0)).to.deep.equal(["Op|const → |1", "Op|a < b → a > b|1", "Op|a < b → a > b|2"]);
    expect(names(`// one line more\n${source}`, 1)).to.deep.equal(names(source, 0));
  });
});
