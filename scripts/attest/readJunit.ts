import { JunitError } from "./junitError.ts";
import { parseXml, type XmlElement } from "./parseXml.ts";

/** The most tests of one run. */
const MAX_TESTS = 200_000;

/** The outcome of a test in one run. */
export type TestOutcome = {
  result: "passed" | "failed" | "skipped";
  /** The test passed and failed within this run. A runner that retries writes both results. */
  isFlaky: boolean;
  /** The number of assertions; undefined if the runner does not report it. */
  assertions: number | undefined;
};

/** A test run, read from its report. */
export type JunitRun = {
  /** The tests by suite, class and name, as in the file. */
  tests: ReadonlyMap<string, TestOutcome>;
  /** The seed of the random order, if the runner reports it. RSpec does, most runners do not. */
  seed: string | undefined;
};

const FAILED = ["failure", "error", "rerunFailure", "rerunError"];
const FLAKY = ["flakyFailure", "flakyError"];

/**
 * Reads a report in JUnit's format, which every runner writes a little differently: mocha's `xunit`, Node's
 * `junit`, pytest, gotestsum, vitest, RSpec, PHPUnit, Surefire. It counts the tests themselves and ignores
 * the totals in the report.
 *
 * A name that appears several times is one test. The runner retried it, or a part failed after the test. It
 * passed only if all entries passed.
 *
 * @param file its name, for errors
 * @throws JunitError
 */
export function readJunit(text: string, file: string): JunitRun {
  const root = parseXml(text, file);
  if (root.name !== "testsuites" && root.name !== "testsuite") {
    throw new JunitError(
      file,
      `begins with <${root.name.slice(0, 40)}>, not with <testsuites> or <testsuite>`,
    );
  }
  const tests = new Map<string, TestOutcome>();
  const seeds = new Set<string>();
  readSuite(root, [], { file, tests, seeds });
  if (seeds.size > 1) throw new JunitError(file, "has more than one seed; write one report for each run");
  return { tests, seed: [...seeds][0] };
}

type Reading = { file: string; tests: Map<string, TestOutcome>; seeds: Set<string> };

function readSuite(suite: XmlElement, path: readonly string[], reading: Reading): void {
  const here = [...path, suite.attributes.get("name") ?? ""];
  for (const child of suite.children) {
    if (child.name === "testsuite") readSuite(child, here, reading);
    else if (child.name === "testcase") readTest(child, here, reading);
    else if (child.name === "properties") readSeed(child, reading.seeds);
  }
}

function readTest(test: XmlElement, path: readonly string[], { file, tests }: Reading): void {
  const { attributes } = test;
  const name = attributes.get("name");
  if (name === undefined) throw new JunitError(file, "has a test without a name");
  const key = JSON.stringify([...path, attributes.get("classname") ?? "", name]);
  const outcome = outcomeOf(test, file);
  const before = tests.get(key);
  tests.set(key, before === undefined ? outcome : together(before, outcome));
  if (tests.size > MAX_TESTS) throw new JunitError(file, `has more than ${MAX_TESTS} tests`);
}

function outcomeOf(test: XmlElement, file: string): TestOutcome {
  const has = (names: readonly string[]) => test.children.some(({ name }) => names.includes(name));
  // A test that is marked as unfinished and fails has both elements.
  const result = has(FAILED) ? "failed" : has(["skipped"]) ? "skipped" : "passed";
  const written = test.attributes.get("assertions");
  if (written !== undefined && !/^\d{1,9}$/.test(written)) {
    throw new JunitError(file, "has a test whose assertions are no whole number");
  }
  return { result, isFlaky: has(FLAKY), assertions: written === undefined ? undefined : Number(written) };
}

function together(one: TestOutcome, other: TestOutcome): TestOutcome {
  const results = [one.result, other.result];
  const result = results.includes("failed") ? "failed" : results.includes("skipped") ? "skipped" : "passed";
  const isFlaky = one.isFlaky || other.isFlaky || (result === "failed" && results.includes("passed"));
  const counts = [one.assertions, other.assertions].filter((count) => count !== undefined);
  // If one part asserts nothing, the whole test counts as asserting nothing.
  return { result, isFlaky, assertions: counts.length < 2 ? undefined : Math.min(...counts) };
}

function readSeed(properties: XmlElement, seeds: Set<string>): void {
  for (const { name, attributes } of properties.children) {
    const seed = attributes.get("value");
    if (name === "property" && attributes.get("name") === "seed" && seed !== undefined) seeds.add(seed);
  }
}
