import { readdirSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";
import { allSteps } from "../../../tools/testing/steps.ts";

describe("tools/testing/steps", () => {
  it("runs every test file in exactly one step", () => {
    const globs = allSteps().flatMap(({ args }) => args.filter((argument) => argument.endsWith(".test.ts")));
    const files = readdirSync(path.join(repositoryRoot, "test"), { recursive: true })
      .map((file) => `test/${String(file)}`)
      .filter((file) => file.endsWith(".test.ts"));

    expect(files.length).to.be.greaterThan(100);
    for (const file of files) {
      expect(
        globs.filter((glob) => path.matchesGlob(file, glob)),
        file,
      ).to.have.length(1);
    }
  });

  it("has a different name for each step", () => {
    const names = allSteps().map(({ name }) => name);
    expect(new Set(names).size).to.equal(names.length);
  });
});
