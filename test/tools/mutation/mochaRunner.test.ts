import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";

/** A test file. Its second test notices some mutants. The mutant `spoils` changes the file's state permanently. */
const FILE = `
const active = () => globalThis.__stryker__?.activeMutant;
const turn = () => new Promise((resolve) => setTimeout(resolve, 200));
let isSpoiled = false;
describe("a file", () => {
  it("passes", () => {});
  it("notices", async () => {
    if (active() === "spoils") isSpoiled = true;
    if (active() === "late") await turn();
    if (isSpoiled || active() === "wrong") throw new Error("noticed");
  });
});
`;

describe("the order of tests for mutants", () => {
  it("begins with those that noticed the last mutants, and ends with the slowest", async () => {
    const { roundsOf } = await import(path.join(repositoryRoot, "tools/mutation/typescript/mochaRunner.mjs"));
    const took = new Map(Object.entries({ a: 90_000, b: 2_001, c: 101, d: 100, e: 7, f: 500, g: 2_000 }));
    const tests = ["a", "b", "c", "d", "e", "f", "g", "new"];
    expect(roundsOf(tests, [], took)).to.deep.equal([["d", "e", "new"], ["c", "f"], ["g"], ["b"], ["a"]]);
    expect(roundsOf(tests, ["other", "b", "d"], took)).to.deep.equal([
      ...[["b", "d"], ["e", "new"], ["c", "f"], ["g"], ["a"]],
    ]);
  });
});

describe("the runner of tests for mutants", () => {
  const ALL = ["a file passes", "a file notices"];
  let folder: string;
  let files = 0;
  const globals = globalThis as { __stryker__?: unknown };
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "tallystick-mutants-"));
  });
  afterEach(async () => {
    delete globals.__stryker__;
    await rm(folder, { recursive: true, force: true });
  });
  /** @param testMs how long a test may take. A slow machine needs much; the test of a late test gives little */
  const open = async (testMs = 60_000) => {
    const file = path.join(folder, `${++files}.test.mjs`);
    await writeFile(file, FILE);
    // Stryker loads the runner by its path too.
    const [plugin] = (await import(path.join(repositoryRoot, "tools/mutation/typescript/mochaRunner.mjs")))
      .strykerPlugins;
    const Runner = Object(plugin).injectableClass;
    const runner = new Runner({ tallystickTests: [file], tallystickTestMs: testMs });
    return (id: string): Promise<{ status: string; killedBy?: unknown }> =>
      runner.mutantRun({ activeMutant: { id }, mutantActivation: "runtime", testFilter: ALL });
  };

  it("counts a mutant as noticed if a test fails with it and passes without it", async () => {
    const run = await open();
    expect(await run("wrong")).to.deep.include({ status: "killed", killedBy: ["a file notices"] });
    expect(await run("harmless")).to.include({ status: "survived" });
  });

  it("gives no result for a mutant with which a test is late, except in a new process", async () => {
    const first = await open(100);
    // On a slow machine this one is late too.
    await first("harmless").catch(() => {});
    for (const id of ["late", "harmless"]) {
      const error = await first(id).catch((reason: unknown) => reason);
      expect(error, id)
        .to.be.an("error")
        .with.property("message")
        .that.matches(/no reliable results/);
    }
    expect(await (await open(100))("late")).to.include({ status: "killed" });
  });

  it("gives no results in a process that an earlier mutant changed permanently", async () => {
    const run = await open();
    expect(await run("spoils"), "the process was new").to.include({ status: "killed" });
    for (const id of ["harmless", "wrong"]) {
      const error = await run(id).catch((reason: unknown) => reason);
      expect(error, id)
        .to.be.an("error")
        .with.property("message")
        .that.matches(/no reliable results/);
    }
  });

  it("gives no result for a mutant that permanently changes a used process", async () => {
    const run = await open();
    await run("harmless");
    const error = await run("spoils").catch((reason: unknown) => reason);
    expect(error)
      .to.be.an("error")
      .with.property("message")
      .that.matches(/no reliable results/);
  });
});
