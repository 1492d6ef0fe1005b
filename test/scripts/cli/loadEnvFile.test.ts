import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import { loadEnvFile } from "../../../scripts/cli/loadEnvFile.ts";

describe("scripts/cli/loadEnvFile", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "tallystick-env-"));
  const file = path.join(folder, ".env");
  const names = ["TALLYSTICK_TEST_FROM_FILE", "TALLYSTICK_TEST_FROM_SHELL"];

  const others = ["ANCHOR_PRIVATE_KEY", "TALLYSTICK_TEST_OTHER"];

  after(() => {
    rmSync(folder, { recursive: true, force: true });
    for (const name of names) delete process.env[name];
  });

  it("takes settings from the file, but settings of the shell have priority", () => {
    process.env.TALLYSTICK_TEST_FROM_SHELL = "shell";
    writeFileSync(file, [...names, ...others].map((name) => `${name}=file\n`).join(""));
    loadEnvFile(names, file);
    expect(names.map((name) => process.env[name])).to.deep.equal(["file", "shell"]);
    // The keys of the other processes are in the same file.
    for (const name of others) expect(process.env).to.not.have.property(name);
  });

  it("does nothing without a file", () => {
    loadEnvFile(names, path.join(folder, "missing"));
  });
});
