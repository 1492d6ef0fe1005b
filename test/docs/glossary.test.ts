import { expect } from "chai";
import { textOf } from "./support/documents.ts";

const glossary = textOf("docs/glossary.md");
const [terms = "", house = ""] = glossary.split("\n## House words");
/** The cells of each row whose first one is a word. */
const rowsOf = (part: string): string[][] =>
  part
    .split("\n")
    .filter((line) => /^\| (?!word \||house word \||-)/.test(line) && !line.startsWith("|---"))
    .map((line) => line.slice(2, -2).split(" | "));

describe("the glossary", () => {
  it("has its words in order, each once, with a section and a file", () => {
    const tables = terms.split("\n## ").slice(1).map(rowsOf);
    expect(tables.map((rows) => rows.length > 15)).to.deep.equal([true, true, true]);
    for (const rows of tables) {
      const words = rows.map(([word = ""]) => word.toLowerCase());
      expect(words).to.deep.equal([...words].sort());
      for (const row of rows) expect(row, row[0]).to.have.length(4);
    }
    const all = tables.flat().map(([word]) => word);
    expect(new Set(all).size).to.equal(all.length);
  });

  it("names only house words that still stand in the code", () => {
    const rows = rowsOf(house);
    expect(rows.length).to.be.above(0);
    for (const [word = "", , file = ""] of rows)
      expect(textOf(file.replaceAll("`", "")), word).to.contain(word.replaceAll("`", ""));
  });
});
