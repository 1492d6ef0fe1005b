import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import Table from "cli-table3";
import { childEnvironment } from "../../scripts/processes/childEnvironment.ts";
import { makeScratchCopy } from "../mutation/scratchCopy.ts";
import { type FileCoverage, readLcov } from "./readLcov.ts";

/** The share of its lines that the tests of every contract must run. */
const MIN_COVERAGE = 0.99;

/**
 * Runs the contracts' TypeScript tests on instrumented contracts, and prints which lines ran. It works in a
 * copy of the repository, so no instrumented files stay in this checkout. Fuzz and invariant tests are left out, because
 * they are much slower on instrumented contracts, and the other tests must reach every line.
 *
 * @returns the exit code: 0 if the tests ran at least 99 % of the lines of every contract
 */
export function coverContracts(): number {
  const copy = makeScratchCopy();
  try {
    const { status } = spawnSync(
      process.execPath,
      ["--import", "tsx", "node_modules/hardhat/dist/src/cli.js", "test", "mocha", "--coverage"],
      {
        cwd: copy.folder,
        env: childEnvironment({ MERKLE_MAX: "16" }),
        stdio: ["ignore", process.stderr, process.stderr],
      },
    );
    if (status !== 0) throw new Error(`the tests ended with ${status}`);
    const report = readFileSync(path.join(copy.folder, "coverage", "lcov.info"), "utf8");
    const own = readLcov(report).filter(({ file }) => /^contracts\/(?!test\/)/.test(file));
    process.stdout.write(`${table(own)}\n`);
    return own.length > 0 && own.every(({ hit, found }) => hit >= MIN_COVERAGE * found) ? 0 : 1;
  } finally {
    copy.remove();
  }
}

function table(files: FileCoverage[]): string {
  const rows = new Table({
    head: ["contract", "lines", "run", "%", "not run"],
    style: { head: [], border: [] },
  });
  for (const { file, hit, found, missed } of files) {
    rows.push([file, found, hit, ((100 * hit) / found).toFixed(2), missed.join(", ")]);
  }
  return rows.toString();
}
