// Runs the Solidity tests (`*.t.sol`) by Hardhat's own task and counts them. A program, not a module.
import hre from "hardhat";
import {
  clearInvariantCoverage,
  describeInvariantCoverage,
  readInvariantCoverage,
} from "./invariantCoverage.ts";
import { writeTestCounts } from "./testCounts.ts";

/** The part of the task's result that is read here. */
type SolidityTestRun = {
  suiteResults: { testResults: { status: "Success" | "Failure" | "Skipped" }[] }[];
};

await clearInvariantCoverage();
const result = (await hre.tasks.getTask(["test", "solidity"]).run({})) as
  | { success: true; value: SolidityTestRun }
  | { success: false; error: SolidityTestRun };
const run = result.success ? result.value : result.error;
const statuses = run.suiteResults.flatMap((suite) => suite.testResults.map((test) => test.status));
const count = (status: (typeof statuses)[number]) => statuses.filter((one) => one === status).length;

const { lines, missing } = describeInvariantCoverage(await readInvariantCoverage());
for (const line of lines) console.log(line);
for (const call of missing) console.error(`This call succeeded in no invariant run: ${call}`);

writeTestCounts({ passed: count("Success"), failed: count("Failure"), skipped: count("Skipped") });
if (!result.success || missing.length > 0) process.exitCode = 1;
