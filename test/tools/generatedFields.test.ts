import { readFileSync } from "node:fs";
import { expect } from "chai";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { fieldFiles } from "../../tools/generate-fields.ts";

describe("the files that are generated from the published fields", () => {
  it("are up to date (else: npm run generate:fields)", () => {
    for (const [file, text] of Object.entries(fieldFiles()))
      expect(readFileSync(`${repositoryRoot}/${file}`, "utf8"), file).to.equal(text);
  });
});
