import { readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";
import type { Argument } from "../../../tools/mutation/verdicts.ts";

const textOf = (file: string): string => readFileSync(path.join(repositoryRoot, file), "utf8");

describe("tools/mutation/typescript/argued.json", () => {
  const argued: Argument[] = JSON.parse(textOf("tools/mutation/typescript/argued.json"));

  it("argues only about code that its files have, as often as the name says", () => {
    const missing = argued.filter(({ file, id }) => {
      const [change, number] = [id.slice(id.indexOf("|") + 1, id.lastIndexOf("|")), id.split("|").at(-1)];
      const code = change.split(" → ", 1)[0]?.replace(/…$/, "") ?? "";
      const times = textOf(file).replaceAll(/\s+/g, " ").split(code).length - 1;
      return code === "" || times < Number(number);
    });
    expect(missing.map(({ file, id }) => `${file} ${id}`)).to.deep.equal([]);
  });

  it("argues about each mutant once", () => {
    const names = argued.map(({ file, id }) => `${file} ${id}`);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).to.deep.equal([]);
  });
});
