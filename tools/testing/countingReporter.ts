import path from "node:path";
import Mocha from "mocha";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { type FailedTest, type FileTime, writeTestCounts } from "./testCounts.ts";

const { EVENT_TEST_FAIL, EVENT_SUITE_BEGIN, EVENT_SUITE_END } = Mocha.Runner.constants;

/** mocha's usual output. It also writes the counts, the failures and the time of each file for the end of `npm test`. */
export default class CountingReporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    const failures: FailedTest[] = [];
    const times = new Map<string, number>();
    let began = 0;
    runner.on(EVENT_TEST_FAIL, (test, error) => failures.push(failedTest(test, error)));
    runner.on(EVENT_SUITE_BEGIN, (suite) => {
      if (isOfFile(suite)) began = performance.now();
    });
    runner.on(EVENT_SUITE_END, (suite) => {
      if (!isOfFile(suite)) return;
      const file = path.relative(repositoryRoot, suite.file ?? "");
      times.set(file, (times.get(file) ?? 0) + performance.now() - began);
    });
    runner.once("end", () => {
      const { passes, failures: failed, pending } = runner.stats ?? { passes: 0, failures: 1, pending: 0 };
      const files: FileTime[] = [...times].map(([file, ms]) => ({ file, ms }));
      writeTestCounts({ passed: passes, failed, skipped: pending, failures, files });
    });
  }
}

/** Whether a suite is one that a file declares at its top. */
function isOfFile(suite: Mocha.Suite): boolean {
  return suite.parent?.root === true;
}

function failedTest(test: Mocha.Runnable, error: unknown): FailedTest {
  const said = error instanceof Error ? error.message : String(error);
  return {
    file: path.relative(repositoryRoot, test.file ?? test.parent?.file ?? ""),
    title: test.fullTitle(),
    message: said.split("\n")[0]?.slice(0, 300) ?? "",
  };
}
