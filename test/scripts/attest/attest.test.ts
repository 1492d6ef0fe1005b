import { once } from "node:events";
import { truncateSync, utimesSync, writeFileSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { serve } from "@hono/node-server";
import { expect } from "chai";
import { parseAttestation, type TestRun } from "tallystick-protocol/records/attestation";
import { isSignedBy } from "tallystick-protocol/records/record";
import { countRuns } from "../../../scripts/attest/countRuns.ts";
import { makeAttestation } from "../../../scripts/attest/makeAttestation.ts";
import { readJunit } from "../../../scripts/attest/readJunit.ts";
import { MAX_REPORT_BYTES, readReport } from "../../../scripts/attest/readReport.ts";
import { signAttestation } from "../../../scripts/attest/signAttestation.ts";
import { NOW, openTestService, type TestService } from "../../settlement/support/testService.ts";
import { commandHere } from "../../support/commandHere.ts";
import { suiteFolder } from "../../support/suiteFolder.ts";

const COMMIT = "c0ffee".padEnd(40, "0");
const AGENT = `0x${"ab".repeat(20)}`;
const terms = { agentId: AGENT, version: "1.2.0", commit: COMMIT, ranAt: NOW - 60 };

type Results = { [name: string]: "passed" | "failed" | "skipped" | "absent" };

/** The error of a rejected promise. */
const rejection = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => new Error("nothing was wrong"),
    (error: Error) => error,
  );

/** The report of a run. With `assertions`, each test has a number of assertions: the number for its name, or 1. */
function xml(results: Results, assertions?: { [name: string]: number }): string {
  const tests = Object.entries(results).flatMap(([name, result]) => {
    if (result === "absent") return [];
    const child = result === "failed" ? "<failure/>" : result === "skipped" ? "<skipped/>" : "";
    const written = assertions === undefined ? "" : ` assertions="${assertions[name] ?? 1}"`;
    return [`<testcase classname="t" name="${name}"${written}>${child}</testcase>`];
  });
  return `<testsuite name="s">${tests.join("")}</testsuite>`;
}

const count = (...runs: string[]) =>
  countRuns(runs.map((run) => readJunit(run, "a").tests)).map(({ outcomes: _, ...counts }) => counts);

describe("the counts of an attestation", () => {
  it("do not count a test as passed if it had another result in another run, was skipped, or was missing", () => {
    const one = xml({ a: "passed", b: "passed", c: "failed", d: "skipped", e: "passed" });
    const two = xml({ a: "passed", b: "failed", c: "failed", d: "skipped", e: "absent" });
    const wanted = { passing: 1, total: 5, flaky: 2 };
    expect(count(one, two)).to.deep.equal([wanted, wanted]);
    expect(count(one)).to.deep.equal([{ passing: 3, total: 5, flaky: 0 }]);
  });

  it("do not count a test without assertions as passed, and count it only once if it is flaky too", () => {
    const results: Results = { a: "passed", b: "passed", c: "failed", d: "skipped" };
    const empty = { b: 0, c: 0, d: 0 };
    expect(count(xml(results, empty))).to.deep.equal([
      { passing: 1, total: 4, flaky: 0, without_assertions: 2 },
    ]);
    const flaky = count(xml(results, empty), xml({ ...results, b: "failed" }, empty));
    const wanted = { passing: 1, total: 4, flaky: 1, without_assertions: 1 };
    expect(flaky).to.deep.equal([wanted, wanted]);
    // If one test has no number of assertions, none of the numbers is used.
    const partly = xml(results, empty).replace(' assertions="1"', "");
    expect(count(partly)[0]).to.not.have.property("without_assertions");
  });

  it("have the same hash of outcomes if, and only if, every test has the same result in both runs", () => {
    const outcomes = (results: Results) => countRuns([readJunit(xml(results), "a").tests])[0]?.outcomes;
    const results: Results = { a: "passed", b: "failed", c: "skipped" };
    expect(outcomes({ c: "skipped", b: "failed", a: "passed" })).to.equal(outcomes(results));
    for (const other of ["passed", "skipped", "absent"] as const)
      expect(outcomes({ ...results, b: other })).to.not.equal(outcomes(results));
  });
});

describe("tallystick attest", () => {
  const folder = suiteFolder();
  let server: Server;
  let service: TestService;
  let url: string;

  const write = (name: string, content: string): string => {
    const file = path.join(folder.path, name);
    writeFileSync(file, content);
    utimesSync(file, NOW - 60, NOW - 60);
    return file;
  };

  before(async () => {
    service = await openTestService(path.join(folder.path, "ledger"));
    server = serve({ fetch: service.app.fetch, hostname: "127.0.0.1", port: 0 }) as Server;
    await once(server, "listening");
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  after(async () => {
    server.close();
    await service.close();
  });

  const attest = (environment: { [name: string]: string }, ...args: string[]) =>
    commandHere(["attest", "--url", url, ...args], { TALLYSTICK_PRIVATE_KEY: "", ...environment });

  it("posts the results of two runs, signed by the agent, and the ledger has them once", async () => {
    const results: Results = { a: "passed", b: "passed", c: "skipped" };
    const one = write("one.xml", xml(results));
    const two = write("two.xml", `${xml({ ...results, b: "failed" })}\n`);
    const key = `0x${"11".repeat(32)}`;
    const seeded = ["--junit", one, "--seed", "1", "--junit", two, "--seed", "2"];
    const about = ["--commit", COMMIT.toUpperCase(), "--agent-version", "1.2.0"];
    const environment = { TALLYSTICK_PRIVATE_KEY: key, TALLYSTICK_LEDGER: "local" };
    const posted = await attest(environment, ...seeded, ...about, "--post", "--json");
    expect(posted).to.deep.include({ code: 0, err: "" });
    const { type, body, signer, signature, notes, settled } = JSON.parse(posted.out);
    expect({ type, signer }).to.deep.equal({ type: "attestation", signer: body.agent_id });
    expect(isSignedBy(body, signature, signer)).to.equal(true);
    const { runs, ran_at: ranAt, commit } = parseAttestation(body);
    expect({ ranAt, commit }).to.deep.equal({ ranAt: NOW - 60, commit: COMMIT });
    const wanted = { passing: 1, total: 3, flaky: 1 };
    expect(runs.map(({ report_hash: _, outcomes_hash: __, ...run }: TestRun) => run)).to.deep.equal([
      { seed: "1", ...wanted },
      { seed: "2", ...wanted },
    ]);
    expect(notes)
      .to.have.length(1)
      .and.to.match(/assert/);

    // A job that is run again sends the same record.
    const reports = await Promise.all([one, two].map(readReport));
    const given = reports.map((report, index) => ({ report, seed: String(index + 1) }));
    const options = { url, commit: COMMIT, agentVersion: "1.2.0", post: true };
    const again = await signAttestation(options, given, environment);
    expect(again.record.signature).to.equal(signature);
    expect((await service.get("/v1/ledger/latest")).json.hash).to.equal(settled.hash);
  });

  it("shows the record to sign if there is no key, and names what the reports lack", async () => {
    const one = write("only.xml", xml({ a: "passed" }));
    const { code, out } = await attest(
      {},
      ...["--junit", one, "--commit", COMMIT, "--agent", AGENT, "--agent-version", "1", "--dry-run"],
    );
    expect(code).to.equal(0);
    expect(out)
      .to.contain("no seed")
      .and.contain("count as 0")
      .and.contain("Nothing was signed")
      .and.match(/assert/);
  });

  it("explains which runs count: two runs with different seeds, or two equal runs without a seed", async () => {
    const results: Results = { a: "passed", b: "failed" };
    const report = async (name: string, content: string) => ({
      report: await readReport(write(name, content)),
    });
    const [one, same, other] = [
      await report("1.xml", xml(results)),
      await report("2.xml", `${xml(results)}\n`),
      await report("3.xml", xml({ ...results, b: "passed" })),
    ] as const;
    const isWorthless = (...given: Parameters<typeof makeAttestation>[1]) =>
      makeAttestation(terms, given).notes.some((note) => note.includes("count as 0"));
    expect(isWorthless(one)).to.equal(true);
    expect(isWorthless(one, same)).to.equal(false);
    expect(isWorthless(one, other)).to.equal(true);
    expect(isWorthless({ ...one, seed: "1" }, { ...other, seed: "1" })).to.equal(true);
    expect(isWorthless({ ...one, seed: "1" }, { ...other, seed: "2" })).to.equal(false);
    expect(() => makeAttestation(terms, [one, one])).to.throw("the same report again");
    expect(() => makeAttestation({ ...terms, commit: "main" }, [one, same])).to.throw("commit");
  });

  it("refuses a seed that contradicts its report", async () => {
    const content = xml({ a: "passed" }).replace(
      "<testcase",
      '<properties><property name="seed" value="7"/></properties><testcase',
    );
    const report = await readReport(write("seeded.xml", content));
    expect(() => makeAttestation(terms, [{ report, seed: "8" }])).to.throw("says 7");
    expect(makeAttestation(terms, [{ report }]).body.runs).to.have.nested.property("[0].seed", "7");
  });

  it("refuses a file that is too long or cannot be read, and says why", async () => {
    const huge = write("huge.xml", "<testsuite>");
    truncateSync(huge, 100 * 1024 * 1024);
    for (const [file, message] of [
      [huge, `more than ${MAX_REPORT_BYTES}`],
      ["/dev/zero", `more than ${MAX_REPORT_BYTES}`],
      [path.join(folder.path, "none.xml"), "is not there"],
      [folder.path, "cannot be read"],
      [write("latin.xml", ""), "not a complete XML"],
    ] as const)
      expect(await rejection(readReport(file)), file)
        .to.have.property("message")
        .that.contains(message);
    const latin = write("latin1.xml", "");
    writeFileSync(latin, Buffer.from([0x3c, 0x61, 0xe4, 0x2f, 0x3e]));
    expect((await rejection(readReport(latin))).message).to.contain("UTF-8");
  });
});
