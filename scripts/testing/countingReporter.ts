import Mocha from "mocha";
import { writeTestCounts } from "./testCounts.ts";

/** mocha's usual output, and the counts for the closing line of `npm test`. */
export default class CountingReporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    runner.once("end", () => {
      const { passes, failures, pending } = runner.stats ?? { passes: 0, failures: 1, pending: 0 };
      writeTestCounts({ passed: passes, failed: failures, skipped: pending });
    });
  }
}
