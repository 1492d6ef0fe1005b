import type { JobLeases } from "../store/jobLeases.ts";
import type { KeyValueStore } from "../store/keyValueStore.ts";
import { continueJobs } from "./continueJobs.ts";
import type { Job, SettlementMode } from "./job.ts";
import { isEnded, type JobRunner } from "./jobRunner.ts";

export type UpkeepParameters = {
  store: KeyValueStore;
  leases: JobLeases;
  leaseMs: number;
  runner: JobRunner;
  modeOf: (paymentMode: string) => SettlementMode;
  /** Delete what is old. */
  sweeps: readonly (() => Promise<void>)[];
  log: (sentence: string, details?: { [key: string]: unknown }) => void;
};

/**
 * Continues the jobs that are unfinished. After the start, these are the jobs of a process that is gone, and those with an
 * uncertain payment. They are resumed when their lease has expired.
 */
export function createUpkeep({ store, leases, leaseMs, runner, modeOf, sweeps, log }: UpkeepParameters) {
  let timer: ReturnType<typeof setInterval> | undefined;

  /** Sends the mark of a delivery that did not get through. Nobody waits for it. */
  function markAgain(job: Job): void {
    const marked = (async () => modeOf(job.mode).collect(job, { isFirst: false }))();
    marked.catch((error) => log("Delivery could not be marked.", { job: job.id, error: String(error) }));
  }

  async function takeUp(): Promise<void> {
    for (const id of await leases.open()) {
      try {
        const job = await store.get<Job>(`job/${id}`);
        if (job && !isEnded(job.stage)) void runner.run(job);
      } catch (error) {
        // One job that cannot be read must not stop the others.
        log("An unfinished job cannot be read. It is tried again.", { job: id, error: String(error) });
      }
    }
    for (const sweep of sweeps) await sweep();
  }

  return {
    /** Waits for the jobs of earlier processes. The rest follows at intervals. */
    start: async (): Promise<void> => {
      const goOn = async (job: Job): Promise<void> => {
        if (job.isMarkDue) markAgain(job);
        if (!isEnded(job.stage)) await runner.run(job);
      };
      await continueJobs(store, goOn, log);
      timer ??= setInterval(() => {
        takeUp().catch((error) => log("Unfinished jobs could not be continued.", { error: String(error) }));
      }, leaseMs);
      timer.unref?.();
    },
    stop: (): void => clearInterval(timer),
  };
}
