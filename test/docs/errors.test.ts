import { readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { contractErrors } from "../../tools/errorDocs/contractErrors.ts";
import { errorSites } from "../../tools/errorDocs/errorSites.ts";
import { ERRORS_FILE, errorsText } from "../../tools/generate-errors.ts";

const file = "packages/sdk/a.ts";

describe("the page of errors", () => {
  const text = errorsText();

  it("equals the errors of the sources (npm run generate:errors)", () => {
    const written = readFileSync(path.join(repositoryRoot, ERRORS_FILE), "utf8");
    expect(written === text, "docs/errors.md is not up to date: npm run generate:errors").to.equal(true);
  });

  it("has codes from all kinds of sources, with their status", () => {
    const rows = text.split("\n");
    const rowOf = (code: string) => rows.find((row) => row.startsWith(`| \`${code}`));
    expect(rows.filter((row) => row.startsWith("| `"))).to.have.length.above(300);
    expect(rowOf("chain_ahead")).to.contain("| 503 |");
    expect(rowOf("self_hire")).to.contain("| 400 |");
    for (const code of ["QUERY_TOO_DEEP", "overcharged", "other_ledger", "json_too_deep", "NotAParty("])
      expect(rowOf(code), code).to.be.a("string");
    expect(rows.filter((row) => /\| *\|$/.test(row))).to.deep.equal([]);
  });

  it("has each error as the source writes it, also when its text has several pieces", () => {
    const source = [
      "// code: 'no_code'",
      `const message = \`The seller asks \${n > 1 ? \`\${n} times\` : "once"} for\` + " more.";`,
      'if (error.code === "EEXIST") throw new ChainError({ code: late ? "too_late" : "too_soon", message, hint: "Wait." });',
      'throw refused(409, "duplicate_nonce", "Used before.", "nonce");',
      'const code = text === "up" ? "first_code" : "second_code";',
      'return new InvalidInputError({ code, issues: [{ field: "a", message: "is /wrong/" }] });',
      'return { status: "ok", code: "no_error" };',
    ].join("\n");
    const late = { file, message: "The seller asks … for more.", hint: "Wait." };
    expect(errorSites(file, source)).to.deep.equal([
      { code: "too_late", ...late },
      { code: "too_soon", ...late },
      { code: "duplicate_nonce", file, message: "Used before.", status: 409 },
      { code: "first_code", file, isInput: true },
      { code: "second_code", file, isInput: true },
    ]);
  });

  it("has the meaning of a contract's error from its interface, and the advice from its pages", () => {
    const solidity = [
      "    /// @notice Too late: `time` has",
      "    /// reached the deadline.",
      "    /// @param time Now.",
      "    error DeadlinePassed(uint256 time, uint256 deadline);",
    ].join("\n");
    const page = "| `DeadlinePassed(time, deadline)`, `Other()` | it is over | agree on a later one |";
    expect(contractErrors(solidity, [page])).to.deep.equal([
      {
        signature: "DeadlinePassed(time, deadline)",
        means: "Too late: `time` has reached the deadline.",
        do: "agree on a later one",
      },
    ]);
  });
});
