import { stripVTControlCharacters } from "node:util";
import { expect } from "chai";
import { closeOf, type Results } from "../../../tools/testing/closeOf.ts";
import { LOADING } from "../../../tools/testing/testCounts.ts";

const stepOf = (name: string, counts = true) => ({ name, counts, needsBuild: false });
const close = (results: Results) => stripVTControlCharacters(closeOf(results)).split("\n");
const files = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    file: `test/${n}.test.ts`,
    ms: n * 1_000,
    processorMs: (count - n) * 1_000,
  }));

describe("the summary of a test run", () => {
  it("has the counts of every step, and their sum in the last line", () => {
    const lines = close([
      { step: stepOf("types", false), result: { passed: 1, failed: 0, skipped: 0, ms: 1_250 } },
      { step: stepOf("test/a"), result: { passed: 7, failed: 0, skipped: 2, ms: 60_000 } },
      { step: stepOf("test/b"), result: { passed: 0, failed: 1, skipped: 0, ms: 10, note: "ran no test" } },
    ]);
    expect(lines).to.deep.equal([
      "✔ types  1.3 s",
      "✔ test/a  7 passed, 0 failed, 2 skipped  60.0 s",
      "✘ test/b  0 passed, 1 failed  0.0 s  ran no test",
      "",
      "8 passed, 1 failed, 2 skipped",
      "",
    ]);
  });

  it("names all failed tests at its end", () => {
    const failures = [{ file: "test/a.test.ts", title: "a room does not", message: "first line" }];
    const lines = close([
      { step: stepOf("a"), result: { passed: 0, failed: 1, skipped: 0, ms: 1, failures } },
      { step: stepOf("b"), result: { passed: 3, failed: 0, skipped: 0, ms: 1 } },
    ]);
    expect(lines.slice(-6)).to.deep.equal([
      "✘ test/a.test.ts",
      "  a room does not",
      "  first line",
      "",
      "3 passed, 1 failed",
      "",
    ]);
  });

  it("lists the slowest files in order if there are many files", () => {
    const result = { passed: 1, failed: 0, skipped: 0, ms: 1 };
    const few = close([{ step: stepOf("a"), result: { ...result, files: files(23) } }]);
    expect(few).not.to.include("the longest:");
    const parts = [files(20), files(4).map(({ file }) => ({ file, ms: 500_000, processorMs: 0 }))];
    const many = close(parts.map((its) => ({ step: stepOf("a"), result: { ...result, files: its } })));
    const at = many.indexOf("the longest:");
    expect(many[at + 1]).to.match(/^ 500.0 s {2}test\/[0-3]\.test\.ts$/);
    expect(many[at + 5]).to.equal("  19.0 s  test/19.test.ts");
    expect(many[at + 13]).to.equal("");
    const costs = many.indexOf("the most processor time, with the processes that a file starts:");
    expect(many[costs + 1]).to.equal("  20.0 s  test/0.test.ts");
    expect(many[costs + 13]).to.equal("");
  });

  it("lists all files on request, and the time that was needed to load them", () => {
    const loading = { file: LOADING, ms: 700, processorMs: 1_500 };
    const result = { passed: 1, failed: 0, skipped: 0, ms: 1, files: [...files(3), loading] };
    const lines = stripVTControlCharacters(
      closeOf([{ step: stepOf("test/a"), result }], { allFiles: true, processorMs: 61_400 }),
    ).split("\n");
    expect(lines).to.include("processor time: 61 s");
    expect(lines).to.include("   1.5 s  loading the files of test/a");
    expect(lines.filter((line) => line.endsWith(".test.ts"))).to.have.length(6);
  });
});
