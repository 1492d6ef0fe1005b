import { expect } from "chai";
import { pause } from "tallystick-sdk/pause";
import { rejection } from "./support/tamper.ts";

/** How many timers keep this process alive. Mocha starts its own when a test first waits. */
const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;

describe("a pause", () => {
  it("ends when its time is over", async () => {
    await pause(0);
    await pause(0, { signal: new AbortController().signal, mayEnd: true });
  });

  it("ends with the signal's reason when it is aborted, and leaves no timer", async () => {
    await Promise.resolve();
    const [stop, before] = [new AbortController(), timers()];
    const paused = rejection(pause(3_600_000, { signal: stop.signal }));
    expect(timers()).to.equal(before + 1);
    const reason = new Error("stopped");
    stop.abort(reason);
    expect(await paused).to.equal(reason);
    expect(await rejection(pause(3_600_000, { signal: stop.signal }))).to.equal(reason);
    expect(timers()).to.equal(before);
  });

  it("keeps no process alive that may end meanwhile", async () => {
    await Promise.resolve();
    const [stop, before] = [new AbortController(), timers()];
    const paused = rejection(pause(3_600_000, { signal: stop.signal, mayEnd: true }));
    expect(timers()).to.equal(before);
    stop.abort(new Error("stopped"));
    await paused;
  });
});
