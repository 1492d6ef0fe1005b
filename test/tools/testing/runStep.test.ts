import { expect } from "chai";
import { DID_NOT_END, judge, runStep } from "../../../tools/testing/runStep.ts";

describe("tools/testing/runStep", () => {
  const runner = { counts: true };
  const all = { passed: 5, failed: 0, skipped: 0 };

  it("counts a check without own counts as one test", () => {
    expect(judge({ counts: false }, 0, undefined)).to.deep.equal({ passed: 1, failed: 0, skipped: 0 });
    expect(judge({ counts: false }, 1, undefined)).to.deep.equal({ passed: 0, failed: 1, skipped: 0 });
  });

  it("uses a runner's own counts", () => {
    expect(judge(runner, 0, { passed: 5, failed: 0, skipped: 1 })).to.deep.equal({
      passed: 5,
      failed: 0,
      skipped: 1,
    });
    expect(judge(runner, 2, { passed: 5, failed: 2, skipped: 0 })).to.deep.equal({
      passed: 5,
      failed: 2,
      skipped: 0,
    });
  });

  it("counts a failure if the exit code of the runner is not 0 and no test failed", () => {
    expect(judge(runner, 1, all)).to.deep.equal({ ...all, failed: 1, note: "ended with 1" });
    expect(judge(runner, 1, undefined)).to.include({ passed: 0, failed: 1 });
  });

  it("counts a failure when a runner ran no test", () => {
    expect(judge(runner, 0, { passed: 0, failed: 0, skipped: 3 })).to.include({
      failed: 1,
      note: "ran no test",
    });
    expect(judge(runner, 0, undefined)).to.include({ failed: 1 });
  });

  it("kills a runner that wrote its counts and does not end, and counts this as a failure", async () => {
    const counted = JSON.stringify({ passed: 2, failed: 0, skipped: 0 });
    const program = `require("node:fs").writeFileSync(process.env.TALLYSTICK_TEST_COUNTS, ${JSON.stringify(counted)});
      process.on("SIGTERM", () => {}); setInterval(() => {}, 1000);`;
    const step = { name: "hangs", args: ["-e", program], counts: true, needsBuild: false };
    const result = await runStep(step, new AbortController().signal, { prefix: "", msToEnd: 50 });
    expect(result).to.include({ passed: 2, failed: 1, note: DID_NOT_END });
  });
});
