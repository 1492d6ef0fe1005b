import { expect } from "chai";
import type { Job, SettlementMode } from "tallystick-sdk/seller/job";
import { createJobRunner } from "tallystick-sdk/seller/jobRunner";
import { HireRefusedError } from "tallystick-sdk/seller/sellerErrors";
import { createJobLeases } from "tallystick-sdk/store/jobLeases";
import { type KeyValueStore, memoryStore } from "tallystick-sdk/store/keyValueStore";

const DUE_AT = 1_800_000_000_000;
const HOUR_MS = 3_600_000;
const REST_MS = 30_000;

describe("a job of a seller that cannot go on", () => {
  const job = { id: "job_A", stage: "collecting", free: false, dueAt: DUE_AT } as Job;

  /** A process of the seller. Nobody knows whether the payment of its job arrived. */
  const openProcess = async (store: KeyValueStore = memoryStore()) => {
    const process = { store, time: DUE_AT, collected: 0, said: [] as string[] };
    const now = () => process.time;
    const leases = createJobLeases({ store, leaseMs: 10_000, now });
    const mode: Partial<SettlementMode> = {
      collect: async () => {
        process.collected++;
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
});
