import { readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { JunitError } from "../../../scripts/attest/junitError.ts";
import { readJunit, type TestOutcome } from "../../../scripts/attest/readJunit.ts";

const reports = path.join(import.meta.dirname, "reports");
const read = (file: string) => readJunit(readFileSync(path.join(reports, file), "utf8"), file);

/** The number of tests with each result in a report. */
function sums(tests: ReadonlyMap<string, TestOutcome>) {
  const count = (result: string) => [...tests.values()].filter((test) => test.result === result).length;
  return { passed: count("passed"), failed: count("failed"), skipped: count("skipped") };
}

function refused(text: string): string {
  try {
    readJunit(text, "run.xml");
  } catch (error) {
    expect(error).to.be.instanceOf(JunitError).with.property("code", "junit_report");
    return (error as Error).message;
  }
  throw new Error("was read");
}

describe("a JUnit report", () => {
  const written = {
    "mocha-xunit.xml": { passed: 2, failed: 1, skipped: 2 },
    "node-junit.xml": { passed: 3, failed: 1, skipped: 2 },
    // A test whose teardown fails is one test, and it failed.
    "pytest.xml": { passed: 4, failed: 2, skipped: 2 },
    "gotestsum.xml": { passed: 2, failed: 1, skipped: 1 },
    "vitest.xml": { passed: 2, failed: 1, skipped: 1 },
    "phpunit.xml": { passed: 3, failed: 0, skipped: 0 },
  };
  for (const [file, wanted] of Object.entries(written)) {
    it(`is read in the form of ${file.split(".")[0]}`, () => {
      expect(sums(read(file).tests)).to.deep.equal(wanted);
    });
  }

  it("has the number of assertions if the runner writes it, and none otherwise", () => {
    const counts = (file: string) => [...read(file).tests.values()].map(({ assertions }) => assertions);
    expect(counts("phpunit.xml")).to.deep.equal([2, 1, 0]);
    for (const file of ["mocha-xunit.xml", "node-junit.xml", "pytest.xml", "gotestsum.xml", "vitest.xml"])
      expect(new Set(counts(file)), file).to.deep.equal(new Set([undefined]));
  });

  it("has its seed if the runner writes one, as RSpec does", () => {
    const text = (seeds: string) =>
      `<testsuite name="rspec"><properties>${seeds}</properties><testcase classname="a" name="b"/></testsuite>`;
    expect(readJunit(text('<property name="seed" value="4711"/>'), "a").seed).to.equal("4711");
    expect(readJunit(text('<property name="go.version" value="1"/>'), "a").seed).to.equal(undefined);
    const two = '<property name="seed" value="1"/><property name="seed" value="2"/>';
    expect(refused(text(two))).to.contain("more than one seed");
  });

  it("marks a retried test as flaky, whether it counts as failed or as passed", () => {
    const flaky = [...read("gotestsum.xml").tests.values()].filter(({ isFlaky }) => isFlaky);
    expect(flaky).to.deep.equal([{ result: "failed", isFlaky: true, assertions: undefined }]);
    const surefire =
      '<testsuite><testcase classname="a" name="b"><flakyFailure message="x">trace</flakyFailure></testcase></testsuite>';
    expect([...readJunit(surefire, "a").tests.values()]).to.deep.equal([
      { result: "passed", isFlaky: true, assertions: undefined },
    ]);
  });

  it("distinguishes tests with one name in two suites or classes", () => {
    const test = '<testcase classname="c" name="n"/>';
    const text = `<testsuites><testsuite name="a">${test}</testsuite><testsuite name="b">${test}<testcase classname="d" name="n"/></testsuite></testsuites>`;
    expect(readJunit(text, "a").tests).to.have.property("size", 3);
  });

  it("is counted test by test; the totals that it claims are ignored", () => {
    const text = '<testsuite tests="383" failures="0"><testcase classname="a" name="b"/></testsuite>';
    expect(sums(readJunit(text, "a").tests)).to.deep.equal({ passed: 1, failed: 0, skipped: 0 });
  });

  it("is refused when it is cut off, in another format, or two reports in one", () => {
    const whole = readFileSync(path.join(reports, "pytest.xml"), "utf8");
    for (const length of [0, 50, 500, whole.length - 1]) refused(whole.slice(0, length));
    expect(refused("<html><body/></html>")).to.contain("<html>");
    expect(refused("<testsuite/><testsuite/>")).to.contain("one root");
    expect(refused("<testsuite><testcase/></testsuite>")).to.contain("without a name");
    expect(refused('<testsuite><testcase name="a" assertions="-1"/></testsuite>')).to.contain("assertions");
  });

  it("is refused if it defines entities; an undefined entity stays as it is", () => {
    const laughs = Array.from({ length: 9 }, (_, n) => `<!ENTITY l${n + 1} "${`&l${n};`.repeat(10)}">`).join(
      "",
    );
    for (const type of [
      `<!DOCTYPE t [<!ENTITY l0 "ha">${laughs}]>`,
      '<!DOCTYPE t SYSTEM "http://127.0.0.1:9/evil.dtd">',
      '<!DOCTYPE t [<!ENTITY l9 SYSTEM "file:///etc/passwd">]>',
    ]) {
      const text = `<?xml version="1.0"?><!-- a -->\n${type}<testsuite><testcase classname="&l9;" name="b"/></testsuite>`;
      expect(refused(text)).to.contain("document type");
    }
    const undefinedOne = '<testsuite><testcase classname="&l9;" name="b"/></testsuite>';
    expect([...readJunit(undefinedOne, "a").tests.keys()]).to.deep.equal(['["","&l9;","b"]']);
  });

  it("changes no prototype, with any names of elements and attributes", () => {
    const text =
      '<testsuite name="__proto__"><valueOf polluted="1"/><toString><b polluted="1"/></toString>' +
      '<testcase classname="__proto__" name="constructor" hasOwnProperty="3" polluted="1"/></testsuite>';
    expect(readJunit(text, "a").tests).to.have.property("size", 1);
    for (const name of ["__proto__", "constructor", "prototype"]) {
      expect(refused(`<testsuite><${name} polluted="1"/></testsuite>`)).to.contain("cannot be read");
      expect(refused(`<testsuite><testcase name="a" ${name}="polluted"/></testsuite>`)).to.contain(
        "cannot be read",
      );
    }
    expect(({} as { polluted?: unknown }).polluted).to.equal(undefined);
  });

  it("is refused when it nests too deep, and is read in seconds when it is long", () => {
    expect(refused(`${"<testsuite>".repeat(5_000)}${"</testsuite>".repeat(5_000)}`)).to.contain("nested");
    for (const text of ["<!--", "<![CDATA[", "<?a ", "<a ", "<", '<a b="<', "&#x3C;"].map(
      (it) => `<testsuite>${it.repeat(50_000)}</testsuite>`,
    )) {
      const begun = process.cpuUsage();
      try {
        readJunit(text, "a");
      } catch (error) {
        expect(error).to.be.instanceOf(JunitError);
      }
      const { user } = process.cpuUsage(begun);
      expect(user / 1e6).to.be.below(5);
    }
  });
});
