import { expect } from "chai";
import { onlySampled, patternsOf, sampleLines } from "../../../tools/mutation/typescript/sampleLines.ts";

const SOURCE = `import { a } from "./a.ts";

/**
 * A comment
 * with two lines.
 */
export function one(): number {
  // Why.
  return a + 1; // one more
}
/* short */
export const two = 2;
`;

describe("a sample of lines", () => {
  it("has only lines with code, and all of them if it is large enough", () => {
    const all = sampleLines(new Map([["a.ts", SOURCE]]), 100);
    expect([...all]).to.deep.equal([["a.ts", new Set([7, 9, 12])]]);
  });

  it("is spread over all files, and is always the same", () => {
    const lines = (count: number) =>
      Array.from({ length: count }, (_, n) => `const a${n} = ${n};`).join("\n");
    const files = new Map([
      ["a.ts", lines(30)],
      ["b.ts", lines(10)],
    ]);
    const sampled = sampleLines(files, 4);
    expect(patternsOf(sampled)).to.deep.equal(["a.ts:6-6", "a.ts:16-16", "a.ts:26-26", "b.ts:6-6"]);
    expect(sampleLines(files, 4)).to.deep.equal(sampled);
  });

  it("leaves the mutants out that are not whole in one of its lines", () => {
    const mutant = (start: number, end: number) => ({
      mutatorName: `${start}-${end}`,
      location: { start: { line: start, column: 1 }, end: { line: end, column: 2 } },
      status: "Killed" as const,
    });
    const mutants = [mutant(7, 10), mutant(9, 9), mutant(12, 12)];
    const report = { files: { "a.ts": { source: SOURCE, mutants }, "b.ts": { source: "", mutants } } };
    const { files } = onlySampled(report, new Map([["a.ts", new Set([7, 9])]]));
    expect(Object.keys(files)).to.deep.equal(["a.ts"]);
    expect(files["a.ts"]?.mutants.map(({ mutatorName }) => mutatorName)).to.deep.equal(["9-9"]);
  });

  it("is empty for no lines", () => {
    expect(sampleLines(new Map(), 5)).to.deep.equal(new Map());
    expect(sampleLines(new Map([["a.ts", SOURCE]]), 0)).to.deep.equal(new Map());
  });
});
