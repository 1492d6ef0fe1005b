import { expect } from "chai";
import { createJobLeases, LeaseLostError } from "tallystick-sdk/store/jobLeases";
import { type KeyValueStore, memoryStore } from "tallystick-sdk/store/keyValueStore";

const LEASE_MS = 60_000;
const DAY_MS = 86_400_000;

describe("leases of jobs, step by step", () => {
  const real = {
    setInterval: globalThis.setInterval,
    clearInterval: globalThis.clearInterval,
    now: performance.now,
  };
  let store: KeyValueStore;
  /** The clock of the store's dates, and the clock that only goes forward. */
  let [now, elapsed] = [0, 0];
  let timers: { tick: () => void; ms: number; isUnref: boolean }[];
  beforeEach(() => {
    store = memoryStore();
    [now, elapsed, timers] = [1_000_000, 5_000, []];
    performance.now = () => elapsed;
    globalThis.setInterval = ((tick: () => void, ms: number) => {
      const timer = { tick, ms, isUnref: false };
      timers.push(timer);
      return Object.assign(timer, {
        unref: () => {
          timer.isUnref = true;
        },
      });
    }) as never;
    globalThis.clearInterval = ((timer: (typeof timers)[number]) => {
      timers = timers.filter((one) => one !== timer);
    }) as never;
  });
  afterEach(() => {
    globalThis.setInterval = real.setInterval;
    globalThis.clearInterval = real.clearInterval;
    performance.now = real.now;
  });
  const open = (folder?: string) =>
    createJobLeases({ store, leaseMs: LEASE_MS, now: () => now, ...(folder !== undefined && { folder }) });
  const entry = (number: number) => store.get<{ holder: string; until: number }>(`lease/job_A-${number}`);
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const tick = async () => {
    for (const timer of timers) timer.tick();
    await turn();
  };
  const take = async (leases = open()) =>
    (await leases.take("job_A")) ?? expect.fail("another process has it");

  it("are numbered entries of one folder, and end with their job", async () => {
    const lease = await take();
    expect(await entry(1)).to.have.property("until", now + LEASE_MS);
    now += LEASE_MS;
    const next = await take();
    expect(await store.keys("lease")).to.have.members(["lease/job_A-1", "lease/job_A-2"]);
    expect(await open().open()).to.deep.equal(["job_A"]);
    await next.end();
    expect(await store.keys("lease")).to.deep.equal([]);
    expect(await lease.requireHeld().catch((error) => error))
      .to.be.instanceOf(LeaseLostError)
      .and.include({
        ...{ code: "lease_lost", message: "Another process has taken over job_A." },
        hint: "This process was suspended for too long. Nothing is lost.",
      });
    await (await take(open("work"))).pause(5);
    expect(await store.keys("work")).to.deep.equal(["work/job_A-1"]);
    expect([await open("work").open(), await open().open()]).to.deep.equal([["job_A"], []]);
  });

  it("are free from the moment at which they expire, and not before", async () => {
    await take();
    now += LEASE_MS - 1;
    expect(await open().take("job_A")).to.equal(undefined);
    now += 1;
    await take();
    expect(await open().take("job_A")).to.equal(undefined);
    expect(await open().take("job_B")).not.to.equal(undefined);
  });

  it("with more than a day left count as expired", async () => {
    for (const [left, isFree] of [
      [DAY_MS, false],
      [DAY_MS + 1, true],
    ] as const) {
      store = memoryStore();
      await store.put("lease/job_A-1", { holder: "h", until: now + left });
      expect((await open().take("job_A")) !== undefined, String(left)).to.equal(isFree);
    }
  });

  it("are taken by the faster of two processes, and a later lease counts before an earlier one", async () => {
    await take();
    now += LEASE_MS;
    const taken = await Promise.all([open().take("job_A"), open().take("job_A")]);
    expect(taken.filter((lease) => lease !== undefined)).to.have.length(1);
    // The first lease is renewed late, and the second one has expired.
    await store.put("lease/job_A-1", { holder: "late", until: now + LEASE_MS });
    await store.put("lease/job_A-2", { holder: "gone", until: now });
    const third = await take();
    await third.requireHeld();
    expect(await entry(3)).to.have.property("until", now + LEASE_MS);
  });

  it("are renewed three times in their length, as long as nobody else has them, by timers that keep no process alive", async () => {
    const lease = await take();
    expect(timers.map(({ ms, isUnref }) => [ms, isUnref])).to.deep.equal([[LEASE_MS / 3, true]]);
    const { holder } = (await entry(1)) ?? {};
    now += 20_000;
    await tick();
    expect(await entry(1)).to.deep.equal({ holder, until: now + LEASE_MS });
    now += LEASE_MS;
    await take();
    const before = await entry(1);
    await tick();
    expect(await entry(1), "not renewed").to.deep.equal(before);
    expect(timers, "only the timer of the new holder").to.have.length(1);
    expect(await lease.requireHeld().catch(({ code }) => code)).to.equal("lease_lost");
  });

  it("are lost if another process has put its entry in their place", async () => {
    const lease = await take();
    await store.put("lease/job_A-1", { holder: "other", until: now + LEASE_MS });
    await tick();
    expect([timers, await entry(1)]).to.deep.equal([[], { holder: "other", until: now + LEASE_MS }]);
    expect(await lease.requireHeld().catch(({ code }) => code)).to.equal("lease_lost");
  });

  it("are renewed before work goes on if the process stood still for their length", async () => {
    const lease = await take();
    const date = async () => (await entry(1))?.until;
    now += 40_000;
    elapsed += LEASE_MS - 1;
    await lease.requireHeld();
    expect(await date()).to.equal(now + 20_000);
    elapsed += 1;
    await lease.requireHeld();
    expect(await date()).to.equal(now + LEASE_MS);
    now += 5_000;
    elapsed += LEASE_MS - 1;
    await lease.requireHeld();
    expect(await date(), "it was renewed not long ago").to.equal(now + LEASE_MS - 5_000);
  });

  it("survive a store that fails for a moment", async () => {
    await take();
    const { put } = store;
    store.put = async () => {
      throw new Error("the disk is away");
    };
    await tick();
    store.put = put;
    now += 20_000;
    await tick();
    expect(await entry(1)).to.have.property("until", now + LEASE_MS);
  });

  it("are given back for a pause, in which nobody takes them and nobody renews them", async () => {
    const lease = await take();
    await lease.pause(500);
    expect(timers).to.deep.equal([]);
    expect(await open().take("job_A")).to.equal(undefined);
    now += 500;
    await take();
  });

  it("end only after a renewal that is under way", async () => {
    for (const end of ["end", "pause"] as const) {
      store = memoryStore();
      timers = [];
      const lease = await take();
      const slow = Promise.withResolvers<void>();
      const { put } = store;
      let isFirst = true;
      store.put = async (...entry) => {
        if (isFirst) {
          isFirst = false;
          await slow.promise;
        }
        await put(...entry);
      };
      await tick();
      const ended = end === "end" ? lease.end() : lease.pause(7);
      await turn();
      slow.resolve();
      await ended;
      expect((await entry(1))?.until).to.equal(end === "end" ? undefined : now + 7);
    }
  });
});
