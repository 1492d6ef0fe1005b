import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { readTypeScript } from "../../../scripts/processes/nodeProgram.ts";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";
import { LOADING, readTestCounts } from "../../../tools/testing/testCounts.ts";

describe("tools/testing/countingReporter", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "tallystick-reporter-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** Runs mocha over a file with this text, and returns what the reporter wrote. */
  async function countsOf(text: string) {
    const file = path.join(folder, "one.test.mjs");
    const counts = path.join(folder, "counts.json");
    await writeFile(file, text);
    const args = [
      ...readTypeScript,
      "node_modules/mocha/lib/cli/cli.js",
      "--no-config",
      "--reporter",
      "./tools/testing/countingReporter.ts",
      file,
    ];
    const env = { ...process.env, TALLYSTICK_TEST_COUNTS: counts };
    await promisify(execFile)(process.execPath, args, { cwd: repositoryRoot, env }).catch(() => {});
    const left = readTestCounts(counts);
    return { left, relative: path.relative(repositoryRoot, file) };
  }

  it("writes the counts, each failed test with the first line of its error, and each file with its time", async () => {
    const { left, relative } = await countsOf(`describe("a room", () => {
      it("works", () => {});
      it("waits");
      it("does not", () => { throw new Error("first line\\nsecond line"); });
    });`);
    expect(left).to.deep.include({ passed: 1, failed: 1, skipped: 1 });
    expect(left?.failures).to.deep.equal([
      { file: relative, title: "a room does not", message: "first line" },
    ]);
    expect(left?.files?.map(({ file }) => file)).to.deep.equal([LOADING, relative]);
  });

  it("counts the processor time of the processes that a file starts too", async () => {
    const { left } = await countsOf(`
      import { spawnSync } from "node:child_process";
      const busy = "const end = process.cpuUsage().user + 400_000; while (process.cpuUsage().user < end) for (let n = 0; n < 1e6; n++);";
      describe("a room", () => it("starts a program", () => {
        spawnSync(process.execPath, ["-e", busy]);
      }));`);
    expect(left?.files?.[1]?.processorMs).to.be.at.least(400);
  });

  it("counts an unhandled rejection once as a failure, and continues", async () => {
    const { left, relative } = await countsOf(`describe("a room", () => {
      it("forgets a promise", async () => {
        void Promise.reject(new Error("lost"));
        await new Promise((resolve) => setTimeout(resolve, 20));
      });
      it("goes on", () => {});
    });`);
    expect(left).to.deep.include({ passed: 2, failed: 1 });
    const message = "a rejection that nobody handled: lost";
    expect(left?.failures).to.deep.equal([{ file: relative, title: "a room forgets a promise", message }]);
  });

  it("writes the name of a hook that failed", async () => {
    const { left } = await countsOf(`describe("a room", () => {
      before("opens it", () => { throw new Error("locked"); });
      it("is never tried", () => {});
    });`);
    expect(left?.failures?.[0]).to.include({ message: "locked" });
    expect(left?.failures?.[0]?.title).to.contain("opens it");
  });
});
