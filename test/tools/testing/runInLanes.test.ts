import { expect } from "chai";
import type { Results } from "../../../tools/testing/closeOf.ts";
import { runInLanes } from "../../../tools/testing/runInLanes.ts";
import type { StepResult } from "../../../tools/testing/runStep.ts";
import { BUILD, type TestStep } from "../../../tools/testing/steps.ts";

const step = (name: string, needsBuild = true): TestStep => ({ name, args: [], counts: true, needsBuild });
const passed: StepResult = { passed: 1, failed: 0, skipped: 0, ms: 1 };
const failed: StepResult = { passed: 0, failed: 1, skipped: 0, ms: 1 };

describe("tools/testing/runInLanes", () => {
  /** Runs steps. Each call of `end` ends one of them. */
  function open(steps: TestStep[], lanes: number, hasRoom?: () => boolean) {
    const running = new Map<string, (result: StepResult) => void>();
    const begun: string[] = [];
    const results: Results = [];
    const stop = new AbortController();
    const all = runInLanes(steps, {
      lanes,
      askMs: 1,
      ...(hasRoom && { hasRoom }),
      signal: stop.signal,
      results,
      run: ({ name }) => {
        begun.push(name);
        return new Promise((resolve) => running.set(name, resolve));
      },
    });
    const settle = () => new Promise((resolve) => setImmediate(resolve));
    const end = async (name: string, result = passed) => {
      running.get(name)?.(result);
      await settle();
    };
    const ended = () => results.map(({ step: { name }, result }) => [name, result.failed]);
    return { begun, end, ended, all, stop, settle };
  }

  it("runs steps that need no contracts during the build of the contracts, and the others in order after the build", async () => {
    const steps = [step(BUILD, false), step("a"), step("free", false), step("b"), step("types")];
    const { begun, end, ended, all, settle } = open(steps, 2);
    await settle();
    expect(begun).to.deep.equal([BUILD, "free"]);
    await end("free");
    expect(begun, "nothing else may begin yet").to.deep.equal([BUILD, "free"]);
    await end(BUILD);
    expect(begun).to.deep.equal([BUILD, "free", "a", "b"]);
    await end("b");
    await end("types");
    await end("a");
    await all;
    expect(ended().map(([name]) => name)).to.deep.equal(["free", BUILD, "b", "types", "a"]);
  });

  it("runs one step more when the machine has room, and waits for this step too", async () => {
    let room = 1;
    const { begun, end, ended, all } = open([step("a"), step("b"), step("c")], 1, () => room-- > 0);
    while (begun.length < 2) await new Promise((resolve) => setTimeout(resolve, 1));
    await end("a");
    expect(begun, "the new lane runs only one step").to.deep.equal(["a", "b", "c"]);
    await end("c");
    await end("b");
    await all;
    expect(ended().map(([name]) => name)).to.deep.equal(["a", "c", "b"]);
  });

  it("does not ask for room while no step can begin", async () => {
    let asked = 0;
    const hasRoom = () => ++asked > 0;
    const { begun, end, all, settle } = open([step(BUILD, false), step("a"), step("b")], 2, hasRoom);
    await settle();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(begun).to.deep.equal([BUILD]);
    await end(BUILD);
    while (begun.length < 3) await new Promise((resolve) => setTimeout(resolve, 1));
    await end("a");
    await end("b");
    await all;
    expect(asked, "no step could begin").to.equal(0);
  });

  it("fails only the steps that need the contracts if they do not build", async () => {
    const { begun, end, ended, all, settle } = open([step(BUILD, false), step("a"), step("free", false)], 2);
    await settle();
    await end(BUILD, failed);
    await end("free");
    await all;
    expect(begun).to.deep.equal([BUILD, "free"]);
    expect(Object.fromEntries(ended())).to.deep.equal({ [BUILD]: 1, a: 1, free: 0 });
  });

  it("does not wait if there is no build, and starts no step after a stop", async () => {
    const { begun, end, all, stop, settle } = open([step("a"), step("b"), step("c")], 1);
    await settle();
    expect(begun).to.deep.equal(["a"]);
    await end("a");
    stop.abort();
    await end("b");
    await all;
    expect(begun).to.deep.equal(["a", "b"]);
  });
});
