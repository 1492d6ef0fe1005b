import { expect } from "chai";
import { TallystickError } from "tallystick-protocol/errors";
import { continueJobs } from "tallystick-sdk/seller/continueJobs";
import type { Job, SettlementMode } from "tallystick-sdk/seller/job";
import { createJobRunner } from "tallystick-sdk/seller/jobRunner";
import { HireRefusedError } from "tallystick-sdk/seller/sellerErrors";
import { createUpkeep } from "tallystick-sdk/seller/upkeep";
import { createJobLeases, type JobLease } from "tallystick-sdk/store/jobLeases";
import { type KeyValueStore, memoryStore } from "tallystick-sdk/store/keyValueStore";
import { rejection } from "./support/tamper.ts";

const DUE_AT = 1_800_000_000_000;
const HOUR_MS = 3_600_000;
const REST_MS = 30_000;

describe("a job of a seller that cannot go on", () => {
  const job = { id: "job_A", stage: "collecting", free: false, dueAt: DUE_AT } as Job;

  /** A process of the seller. Nobody knows whether the payment of its job arrived. */
  const openProcess = async (store: KeyValueStore = memoryStore(), startsAt = DUE_AT) => {
    const process = {
      ...{ store, time: startsAt, collected: 0, onCollect: async () => {}, said: [] as string[] },
      /** For each collection, whether the money was certainly never asked for before. */
      firsts: [] as boolean[],
    };
    const now = () => process.time;
    const leases = createJobLeases({ store, leaseMs: 10_000, now });
    const mode: Partial<SettlementMode> = {
      collect: async (_, { isFirst }) => {
        process.firsts.push(isFirst);
        process.collected++;
        await process.onCollect();
        throw new HireRefusedError({ status: 504, code: "settlement_unconfirmed", message: "unknown" });
      },
    };
    const runner = createJobRunner({
      ...{ store, leases, now, restMs: REST_MS, modeOf: () => mode as SettlementMode },
      log: (sentence: string) => process.said.push(sentence),
    } as unknown as Parameters<typeof createJobRunner>[0]);
    /** How long the job rests now. */
    const rest = async (): Promise<number> => {
      const entries = (await store.keys("lease")).map((key) => store.get<{ until: number }>(key));
      return Math.max(...(await Promise.all(entries)).map((entry) => entry?.until ?? 0)) - process.time;
    };
    await store.put("job/job_A", job);
    return { process, leases, runner, rest };
  };

  it("rests longer each time, and a day after its time it is put aside, but is not called failed", async () => {
    const { process, leases, runner, rest } = await openProcess();
    for (const [hours, expected] of [
      [0, REST_MS],
      [1, HOUR_MS / 4],
      [2, HOUR_MS / 2],
      [23, HOUR_MS],
    ] as const) {
      process.time = DUE_AT + hours * HOUR_MS;
      expect(await runner.run(job)).to.include({ stage: "collecting" });
      expect(await rest(), `after ${hours} hours`).to.equal(expected);
      process.time += expected;
    }
    expect(process.said.join()).not.to.contain("aside");
    process.time = DUE_AT + 25 * HOUR_MS;
    expect(await runner.run(job)).to.include({ stage: "collecting" });
    expect(process.said.join()).to.contain("aside");
    expect(await process.store.get("job/job_A")).to.include({ stage: "collecting" });
    expect(await leases.open()).to.deep.equal([]);
    expect(runner.running()).to.equal(0);
  });

  it("asks for its money as for the first time once, and never if an earlier process may have asked", async () => {
    const found = await openProcess();
    await found.runner.run(job);
    expect(found.process.firsts).to.deep.equal([false, false, false]);
    const { process, runner } = await openProcess();
    const worked: Job = { ...job, stage: "worked" };
    await process.store.put("job/job_A", worked);
    await runner.run(worked);
    expect(process.firsts).to.deep.equal([true, false, false]);
  });

  it("is not put aside at once by a start that comes days after its time", async () => {
    const { process, runner, rest } = await openProcess(memoryStore(), DUE_AT + 72 * HOUR_MS);
    expect(await runner.run(job)).to.include({ stage: "collecting" });
    expect(process.said.join()).not.to.contain("aside");
    expect(await rest()).to.equal(REST_MS);
  });

  it("is not put aside by a process that lost it to another one, so that no third process works on it too", async () => {
    const { process, leases, runner } = await openProcess();
    process.time = DUE_AT + 25 * HOUR_MS;
    let taken: JobLease | undefined;
    process.onCollect = async () => {
      // This process was suspended until its lease had expired.
      process.time += 10_001;
      taken ??= await leases.take("job_A");
    };
    expect(await runner.run(job)).to.include({ stage: "collecting" });
    expect(process.said.join()).not.to.contain("aside");
    await taken?.requireHeld();
    // The clock still shows a time at which the lease of the second process holds.
    process.time = DUE_AT + 25 * HOUR_MS + 10_001;
    expect(await leases.take("job_A"), "a third process").to.equal(undefined);
    await taken?.end();
  });

  it("is never put aside if its money is here", async () => {
    const { process, runner, rest } = await openProcess();
    const paid: Job = { ...job, stage: "collected" };
    await process.store.put("job/job_A", paid);
    process.time = DUE_AT + 72 * HOUR_MS;
    expect(await runner.run(paid)).to.include({ stage: "collected" });
    expect(process.said.join()).not.to.contain("aside");
    expect(await rest()).to.equal(HOUR_MS);
  });

  it("rests, and is continued later, if the store cannot read it once", async () => {
    const store = memoryStore();
    let fails = 0;
    const { process, runner, rest } = await openProcess({
      ...store,
      get: async <T>(key: string) => {
        if (key === "job/job_A" && fails-- > 0) throw new Error("EMFILE: too many open files");
        return await store.get<T>(key);
      },
    });
    fails = 1;
    expect((await rejection(runner.run(job))).message).to.contain("EMFILE");
    expect(process.collected).to.equal(0);
    // The lease was given back, so this process does not renew it any more.
    expect(await rest()).to.equal(REST_MS);
    process.time += REST_MS;
    await runner.run(job);
    expect(process.collected).to.equal(3);
  });
});

/** A store in which the values of these keys are damaged. */
const damagedStore = (store: KeyValueStore, ...keys: string[]): KeyValueStore => ({
  ...store,
  get: async <T>(key: string) => {
    if (keys.includes(key)) throw new TallystickError({ code: "unreadable_value", message: key });
    return await store.get<T>(key);
  },
});

describe("a job of a seller whose value is damaged", () => {
  let store: KeyValueStore;
  beforeEach(async () => {
    store = memoryStore();
    for (const id of ["job_A", "job_B", "job_C"]) await store.put(`job/${id}`, { id, stage: "collecting" });
  });

  it("does not keep a seller from its other jobs when it starts", async () => {
    const lines: unknown[] = [];
    const continued: string[] = [];
    await continueJobs(
      damagedStore(store, "job/job_A"),
      async ({ id }) => void continued.push(id),
      (...line) => lines.push(line),
    );
    expect(continued).to.have.members(["job_B", "job_C"]);
    expect(JSON.stringify(lines)).to.contain("job/job_A");
    const away: KeyValueStore = { ...store, get: () => Promise.reject(new Error("EIO")) };
    expect((await rejection(continueJobs(away, async () => {}))).message).to.equal("EIO");
  });

  it("does not keep a seller from its other jobs, and from its old work, while it runs", async () => {
    const swept = Promise.withResolvers<void>();
    const continued: string[] = [];
    const upkeep = createUpkeep({
      store: { ...damagedStore(store, "job/job_A"), keys: async () => [] },
      leases: { open: async () => ["job_A", "job_B"] },
      leaseMs: 1,
      runner: { run: async (job: Job) => void continued.push(job.id) },
      sweeps: [async () => swept.resolve()],
      log: () => {},
    } as unknown as Parameters<typeof createUpkeep>[0]);
    await upkeep.start();
    await swept.promise;
    upkeep.stop();
    expect(continued).to.include("job_B");
  });
});

describe("the start of a seller", () => {
  it("reads only a few jobs at the same time, and continues those that have not ended", async () => {
    const store = memoryStore();
    let [reading, most, read] = [0, 0, 0];
    const counting: KeyValueStore = {
      ...store,
      get: async <T>(key: string) => {
        if (!key.startsWith("job/")) return await store.get<T>(key);
        read++;
        most = Math.max(most, ++reading);
        await new Promise((resolve) => setImmediate(resolve));
        reading--;
        return await store.get<T>(key);
      },
    };
    const stages = ["completed", "failed", "collecting"];
    for (let at = 0; at < 300; at++)
      await store.put(`job/job_${at}`, { id: `job_${at}`, stage: stages[at % 3] });
    const continued: string[] = [];
    await continueJobs(counting, async ({ id }) => {
      continued.push(id);
    });
    expect(read).to.equal(300);
    expect(most).to.be.at.most(8);
    expect(continued).to.have.length(100);
    expect(new Set(continued)).to.include("job_2").and.include("job_299");
  });
});
