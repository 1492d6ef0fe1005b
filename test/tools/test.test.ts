import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { childEnvironment } from "../../scripts/processes/childEnvironment.ts";
import { nodeProgram } from "../../scripts/processes/nodeProgram.ts";
import { suiteFolder } from "../support/suiteFolder.ts";

describe("npm test", () => {
  const folder = suiteFolder();

  /** Runs a file with one test of this body. Returns the exit code and the last line of the output. */
  async function run(body: string): Promise<[code: number, last: string | undefined]> {
    const file = path.join(folder.path, "one.test.ts");
    await writeFile(file, `describe("a room", () => it("works", () => {${body}}));`);
    const program = nodeProgram("scripts/cli.ts", ["test", file]);
    const { code, stdout } = await promisify(execFile)(process.execPath, program, {
      env: childEnvironment({ NO_COLOR: "1" }),
    }).then(
      ({ stdout }) => ({ code: 0, stdout }),
      (error) => error as { code: number; stdout: string },
    );
    return [code, stdout.trimEnd().split("\n").at(-1)];
  }

  it("ends with 0 if all tests passed, with 1 if a test failed, and counts them in its last line", async () => {
    expect(await run("")).to.deep.equal([0, "1 passed, 0 failed"]);
    expect(await run('throw new Error("wrong");')).to.deep.equal([1, "0 passed, 1 failed"]);
  });
});
