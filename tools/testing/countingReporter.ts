import path from "node:path";
import Mocha from "mocha";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { processorTime } from "./processorTime.ts";
import { type FailedTest, type FileTime, LOADING, writeTestCounts } from "./testCounts.ts";

const { EVENT_TEST_FAIL, EVENT_SUITE_BEGIN, EVENT_SUITE_END, EVENT_RUN_BEGIN } = Mocha.Runner.constants;

/**
 * mocha's usual output. It also writes the counts, the failures and the time of each file for the end of `npm test`. An unhandled
 * rejection would end a process of ours. mocha ignores it, so this reporter counts it as a failure.
 */
export default class CountingReporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    const failures: FailedTest[] = [];
    const times = new Map<string, FileTime>();
    const add = (file: string, ms: number, processorMs: number) => {
      const before = times.get(file) ?? { ms: 0, processorMs: 0 };
      times.set(file, { file, ms: before.ms + ms, processorMs: before.processorMs + processorMs });
    };
    let began = 0;
    let used = 0;
    const unhandled = new Set<unknown>();
    process.on("unhandledRejection", (reason, promise) => {
      // mocha emits the same rejection a second time.
      if (unhandled.has(promise)) return;
      unhandled.add(promise);
      failures.push(unhandledIn(runner.currentRunnable, reason));
    });
    runner.once(EVENT_RUN_BEGIN, () => {
      used = processorTime();
      add(LOADING, performance.now(), used);
    });
    runner.on(EVENT_TEST_FAIL, (test, error) => failures.push(failedTest(test, error)));
    runner.on(EVENT_SUITE_BEGIN, (suite) => {
      if (isOfFile(suite)) began = performance.now();
    });
    runner.on(EVENT_SUITE_END, (suite) => {
      if (!isOfFile(suite)) return;
      const now = processorTime();
      add(path.relative(repositoryRoot, suite.file ?? ""), performance.now() - began, now - used);
      used = now;
    });
    runner.once("end", () => {
      const { passes, failures: failed, pending } = runner.stats ?? { passes: 0, failures: 1, pending: 0 };
      writeTestCounts({
        passed: passes,
        failed: failed + unhandled.size,
        skipped: pending,
        failures,
        files: [...times.values()],
      });
    });
  }
}

/** Whether a suite is one that a file declares at its top. */
function isOfFile(suite: Mocha.Suite): boolean {
  return suite.parent?.root === true;
}

/** @param runnable what ran when the rejection was noticed; it may come from an earlier test */
function unhandledIn(runnable: Mocha.Runnable | undefined, reason: unknown): FailedTest {
  const message = `a rejection that nobody handled: ${reason instanceof Error ? reason.message : String(reason)}`;
  if (runnable === undefined) return { file: "", title: "", message: message.slice(0, 300) };
  return failedTest(runnable, message);
}

function failedTest(test: Mocha.Runnable, error: unknown): FailedTest {
  const said = error instanceof Error ? error.message : String(error);
  return {
    file: path.relative(repositoryRoot, test.file ?? test.parent?.file ?? ""),
    title: test.fullTitle(),
    message: said.split("\n")[0]?.slice(0, 300) ?? "",
  };
}
