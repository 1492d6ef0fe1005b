import { expect } from "chai";
import { textOf } from "./support/documents.ts";

const glossary = textOf("docs/glossary.md");
/** The cells of each row, without the head of the table. */
const rowsOf = (part: string): string[][] =>
  part
    .split("\n")
    .filter((line) => /^\| (?!word \||-)/.test(line) && !line.startsWith("|---"))
    .map((line) => line.slice(2, -2).split(" | "));

describe("the glossary", () => {
  it("has its words in order, each once, with all cells of its table", () => {
    const tables = glossary.split("\n## ").slice(1).map(rowsOf);
    expect(tables.map((rows) => rows.length > 15)).to.deep.equal([true, true, true, true]);
    for (const [at, rows] of tables.entries()) {
      const words = rows.map(([word = ""]) => word.toLowerCase());
      expect(words).to.deep.equal([...words].sort());
      // In the last table, the words of the code have no section of a specification.
      for (const row of rows) expect(row, row[0]).to.have.length(at < 3 ? 4 : 3);
    }
    const all = tables.flat().map(([word]) => word);
    expect(new Set(all).size).to.equal(all.length);
  });
});
