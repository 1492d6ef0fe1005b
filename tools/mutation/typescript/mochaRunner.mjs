// A plugin of Stryker that runs tests by mocha, in the process that Stryker starts. Stryker's own runner does not load
// together with mocha 12. Stryker loads this file in its own processes, and some of them cannot read TypeScript.
import path from "node:path";
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

/** Tests up to the first time, in milliseconds, run first, then those up to the second, and so on. */
const ROUNDS_MS = [100, 500, 2_000, 10_000, Number.POSITIVE_INFINITY];

/** How many of the tests that noticed the last mutants run first: neighbouring mutants fail the same tests. */
const MAX_LAST_NOTICED = 6;

/** The error after which Stryker starts another process. */
const SPOILED = "This process gives no reliable results: a test was late, or fails without a mutant too.";

class MochaRunner {
  static inject = tokens(commonTokens.options);
  #files;
  #timeoutMs;
  #mocha;
  /** How long each test took when it last passed, in milliseconds. */
  #tookMs = new Map();
  #lastNoticed = [];
  #ranMutant = false;
  #isSpoiled = false;

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

  /**
   * A failed test counts only if it passes without the mutant right afterwards. If it fails again, an earlier mutant left
   * something wrong in this process, for example in a cache. A test can also be late only because the machine is busy.
   * In both cases Stryker starts another process, and asks again. The result of the new process counts.
   */
  async mutantRun({ activeMutant, mutantActivation, hitLimit, disableBail, testFilter }) {
    if (this.#isSpoiled) throw new Error(SPOILED);
    const own = context();
    own.hitCount = hitLimit === undefined ? undefined : 0;
    own.hitLimit = hitLimit;
    if (mutantActivation === "static") own.activeMutant = activeMutant.id;
    await this.#load();
    own.activeMutant = activeMutant.id;
    const result = await this.#runInRounds(testFilter, !disableBail);
    own.activeMutant = undefined;
    const endless = determineHitLimitReached(own.hitCount, hitLimit);
    const failed = result.tests.find(isFailed);
    if (endless === undefined && failed !== undefined) await this.#doubt(failed);
    this.#ranMutant = true;
    return toMutantRunResult(endless ?? result);
  }

  /** @throws Error when the failed test may have failed for another reason than the mutant */
  async #doubt({ id, isLate }) {
    this.#lastNoticed = [id, ...this.#lastNoticed.filter((one) => one !== id)].slice(0, MAX_LAST_NOTICED);
    // A late test may still be running, and may change the results of later tests.
    this.#isSpoiled = isLate || (await this.#run({ testFilter: [id] })).tests.some(isFailed);
    if (this.#isSpoiled && this.#ranMutant) throw new Error(SPOILED);
  }

  async #runInRounds(testFilter, isBailing) {
    if (testFilter === undefined || !isBailing) return this.#run({ isBailing, testFilter });
    const tests = [];
    for (const round of roundsOf(testFilter, this.#lastNoticed, this.#tookMs)) {
      tests.push(...(await this.#run({ isBailing, testFilter: round })).tests);
      if (tests.some(isFailed)) break;
    }
    return { status: DryRunStatus.Complete, tests };
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
      if (result.status === TestStatus.Success) this.#tookMs.set(id, test.duration ?? 0);
      tests.push({ id, name: id, timeSpentMs: test.duration ?? 0, fileName: test.file, ...result });
    };
    return new Promise((resolve) => {
      const runner = mocha.run(() => resolve({ status: DryRunStatus.Complete, tests }));
      runner.on("pass", (test) => took(test, { status: TestStatus.Success }));
      runner.on("pending", (test) => took(test, { status: TestStatus.Skipped }));
      // A hook that fails comes here too, and counts as a failed test.
      runner.on("fail", (test, error) =>
        took(test, {
          status: TestStatus.Failed,
          failureMessage: String(error?.message ?? error),
          isLate: error?.code === "ERR_MOCHA_TIMEOUT",
        }),
      );
    });
  }
}

/**
 * The tests in the order in which they run: first those that noticed the last mutants, then the quickest, and the
 * slowest last. So most mutants are noticed before a slow test runs.
 */
export function roundsOf(tests, lastNoticed, tookMs) {
  const first = lastNoticed.filter((id) => tests.includes(id));
  const roundOf = (id) => ROUNDS_MS.findIndex((ms) => (tookMs.get(id) ?? 0) <= ms);
  const others = Map.groupBy(
    tests.filter((id) => !first.includes(id)),
    roundOf,
  );
  return [first, ...ROUNDS_MS.map((_, n) => others.get(n) ?? [])].filter(({ length }) => length > 0);
}

function isFailed({ status }) {
  return status === TestStatus.Failed;
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

/** Says at once which mutants nobody noticed, because a run can take hours. */
class SurvivorReporter {
  onMutantTested({ status, fileName, location, mutatorName, replacement = "" }) {
    if (status !== "Survived" && status !== "NoCoverage") return;
    const change = replacement.replaceAll(/\s+/g, " ").slice(0, 120);
    const file = path.relative(process.cwd(), fileName);
    process.stderr.write(`${status}: ${file}:${location.start.line} ${mutatorName} ${change}\n`);
  }
}

export const strykerPlugins = [
  declareClassPlugin(PluginKind.TestRunner, "tallystick-mocha", MochaRunner),
  declareClassPlugin(PluginKind.Reporter, "tallystick-survivors", SurvivorReporter),
];
