// A plugin of Stryker that runs tests by mocha, in the process that Stryker starts. Stryker's own runner does not load
// together with mocha 12. Stryker loads this file in its own processes, and some of them cannot read TypeScript.
import { INSTRUMENTER_CONSTANTS } from "@stryker-mutator/api/core";
import { commonTokens, declareClassPlugin, PluginKind, tokens } from "@stryker-mutator/api/plugin";
import {
  DryRunStatus,
  determineHitLimitReached,
  TestStatus,
  toMutantRunResult,
} from "@stryker-mutator/api/test-runner";
import Mocha from "mocha";

/**
 * The options that it reads: test files, from the folder that Stryker runs in, and the time limit of a test without its
 * own limit, in milliseconds.
 */
export const strykerValidationSchema = {
  type: "object",
  properties: {
    tallystickTests: { type: "array", items: { type: "string" } },
    tallystickTestMs: { type: "number" },
  },
};

class MochaRunner {
  static inject = tokens(commonTokens.options);
  #files;
  #timeoutMs;
  #mocha;

  constructor({ tallystickTests, tallystickTestMs }) {
    this.#files = tallystickTests;
    this.#timeoutMs = tallystickTestMs;
  }

  /** Imported modules are not loaded again, so a mutant that acts while a file is loaded needs another process. */
  capabilities() {
    return { reloadEnvironment: false };
  }

  async dryRun({ coverageAnalysis }) {
    const result = await this.#run();
    const { mutantCoverage } = context();
    return coverageAnalysis === "off" ? result : { ...result, mutantCoverage };
  }

  async mutantRun({ activeMutant, mutantActivation, hitLimit, disableBail, testFilter }) {
    const own = context();
    own.hitCount = hitLimit === undefined ? undefined : 0;
    own.hitLimit = hitLimit;
    if (mutantActivation === "static") own.activeMutant = activeMutant.id;
    await this.#load();
    own.activeMutant = activeMutant.id;
    const result = await this.#run({ isBailing: !disableBail, testFilter });
    return toMutantRunResult(determineHitLimitReached(own.hitCount, hitLimit) ?? result);
  }

  async #load() {
    if (this.#mocha) return this.#mocha;
    const mocha = new Mocha({
      ui: "bdd",
      reporter: class {},
      rootHooks: { beforeEach: nameTest },
      timeout: this.#timeoutMs,
    });
    mocha.cleanReferencesAfterRun(false);
    for (const file of this.#files) mocha.addFile(file);
    await mocha.loadFilesAsync();
    this.#mocha = mocha;
    return mocha;
  }

  async #run({ isBailing = false, testFilter } = {}) {
    const mocha = await this.#load();
    const titles = testFilter?.map((title) => title.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    mocha.grep(titles === undefined ? /^/ : new RegExp(`^(?:${titles.join("|")})$`));
    setBail(mocha.suite, isBailing);
    const tests = [];
    const took = (test, result) => {
      const id = test.fullTitle();
      tests.push({ id, name: id, timeSpentMs: test.duration ?? 0, fileName: test.file, ...result });
    };
    return new Promise((resolve) => {
      const runner = mocha.run(() => resolve({ status: DryRunStatus.Complete, tests }));
      runner.on("pass", (test) => took(test, { status: TestStatus.Success }));
      runner.on("pending", (test) => took(test, { status: TestStatus.Skipped }));
      // If a hook fails, its tests fail too.
      runner.on("fail", (test, error) =>
        took(test, { status: TestStatus.Failed, failureMessage: String(error?.message ?? error) }),
      );
    });
  }
}

/** Each suite has its own setting for whether it continues after a failure. */
function setBail(suite, isBailing) {
  suite.bail(isBailing);
  for (const one of suite.suites) setBail(one, isBailing);
}

/** The object through which Stryker and the changed code communicate. */
function context() {
  globalThis[INSTRUMENTER_CONSTANTS.NAMESPACE] ??= {};
  return globalThis[INSTRUMENTER_CONSTANTS.NAMESPACE];
}

/** From here on, all code that runs counts as covered by this test. */
function nameTest() {
  context().currentTestId = this.currentTest.fullTitle();
}

export const strykerPlugins = [declareClassPlugin(PluginKind.TestRunner, "tallystick-mocha", MochaRunner)];
