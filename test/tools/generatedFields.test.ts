import { readFileSync } from "node:fs";
import { expect } from "chai";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { fieldFiles } from "../../tools/generate-fields.ts";

describe("what is made of the table of published fields", () => {
  it("is what the table says (else: npm run generate:fields)", () => {
    for (const [file, text] of Object.entries(fieldFiles()))
      expect(readFileSync(`${repositoryRoot}/${file}`, "utf8"), file).to.equal(text);
  });
});
