import { expect } from "chai";
import { CheckpointClock } from "../../../services/settlement/proofs/checkpointClock.ts";

const EVERY_MS = 1_000;

describe("the clock of checkpoints", () => {
  const real = {
    setTimeout: globalThis.setTimeout,
    clearTimeout: globalThis.clearTimeout,
    now: performance.now,
  };
  let now: number;
  /** The timer that was set last: its delay, and whether a process may end before it. */
  let timer: { run: () => void; ms: number; isUnref: boolean } | undefined;
  let timers: number;
  let making: PromiseWithResolvers<void>[];
  let logged: unknown[][];
  beforeEach(() => {
    [now, timer, timers, making, logged] = [5_000, undefined, 0, [], []];
    performance.now = () => now;
    globalThis.setTimeout = ((run: () => void, ms: number) => {
      const set = { run, ms, isUnref: false };
      [timer, timers] = [set, timers + 1];
      return {
        unref() {
          set.isUnref = true;
          return this;
        },
      };
    }) as never;
    globalThis.clearTimeout = (of) => {
      if (of !== undefined) timer = undefined;
    };
  });
  afterEach(() => {
    globalThis.setTimeout = real.setTimeout;
    globalThis.clearTimeout = real.clearTimeout;
    performance.now = real.now;
  });
  const open = (complaint?: string) =>
    new CheckpointClock({
      ...{ everyMs: EVERY_MS, log: (...of: unknown[]) => void logged.push(of) },
      ...(complaint !== undefined && { complaint }),
      make: () => {
        const one = Promise.withResolvers<void>();
        making.push(one);
        return one.promise;
      },
    });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  /** Lets the time of the timer come. Returns how long it was. */
  const elapse = (): number => {
    const { run, ms } = timer as NonNullable<typeof timer>;
    timer = undefined;
    now += ms;
    run();
    return ms;
  };

  it("makes the first checkpoint at once, and the next one when the interval since the last has passed", async () => {
    const clock = open();
    clock.want();
    clock.want();
    expect([timers, timer?.ms, timer?.isUnref]).to.deep.equal([1, 0, true]);
    elapse();
    expect(making).to.have.length(1);
    now += 300;
    making[0]?.resolve();
    await turn();
    expect([timer, timers], "nobody wants another one").to.deep.equal([undefined, 1]);
    now += 200;
    clock.want();
    expect(elapse()).to.equal(500);
    making[1]?.resolve();
    await turn();
    now += 2 * EVERY_MS;
    clock.want();
    expect(timer?.ms, "the interval is over").to.equal(0);
  });

  it("makes one at a time, and one more if somebody wanted it meanwhile", async () => {
    const clock = open();
    clock.want();
    elapse();
    for (let n = 0; n < 3; n++) clock.want();
    expect([timer, making.length]).to.deep.equal([undefined, 1]);
    making[0]?.resolve();
    await turn();
    expect([timer?.ms, timers]).to.deep.equal([EVERY_MS, 2]);
    elapse();
    making[1]?.resolve();
    await turn();
    expect([timer, making.length, logged]).to.deep.equal([undefined, 2, []]);
  });

  it("tries again after five intervals if one cannot be made, and logs that once until one is made", async () => {
    const clock = open();
    clock.want();
    elapse();
    const errors = [1, 2, 3].map((n) => new Error(`ENOSPC ${n}`));
    const fail = async (n: number) => {
      now += 100;
      making.at(-1)?.reject(errors[n]);
      await turn();
    };
    await fail(0);
    expect(timer?.ms).to.equal(5 * EVERY_MS);
    elapse();
    await fail(1);
    const sentence = "No checkpoint could be made; trying again.";
    expect(logged).to.deep.equal([[sentence, { error: errors[0] }]]);
    elapse();
    making.at(-1)?.resolve();
    await turn();
    expect(timer, "it was made").to.equal(undefined);
    clock.want();
    expect(elapse()).to.equal(EVERY_MS);
    await fail(2);
    expect(logged.slice(1)).to.deep.equal([[sentence, { error: errors[2] }]]);
  });

  it("logs the sentence that it is given", async () => {
    const clock = open("No tile could be written.");
    clock.want();
    elapse();
    making[0]?.reject(new Error("EIO"));
    await turn();
    expect(logged[0]?.[0]).to.equal("No tile could be written.");
  });

  it("makes none after it is stopped, which waits for the one that is being made", async () => {
    const clock = open();
    clock.want();
    elapse();
    clock.want();
    let isStopped = false;
    const stopped = clock.stop().then(() => {
      isStopped = true;
    });
    await turn();
    expect(isStopped).to.equal(false);
    making[0]?.resolve();
    await stopped;
    await turn();
    clock.want();
    expect([timer, making.length]).to.deep.equal([undefined, 1]);
    const other = open();
    other.want();
    await other.stop();
    expect(timer, "its timer is cleared").to.equal(undefined);
  });
});
