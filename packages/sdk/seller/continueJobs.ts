import { forEachAtOnce } from "../forEachAtOnce.ts";
import type { KeyValueStore } from "../store/keyValueStore.ts";
import { unlessDamaged } from "../store/unlessDamaged.ts";
import type { Job } from "./job.ts";
import { isEnded } from "./jobRunner.ts";

/** How many jobs are read at the same time. A store may have all jobs that a seller ever had. */
const READS_AT_ONCE = 8;

/**
 * Runs the jobs of a store that have not ended, or whose delivery is perhaps not marked yet, and waits for them. A job
 * runs as soon as it is found. Only these jobs stay in memory. A job whose value is damaged does not stop the others.
 *
 * @throws what the store throws, after the jobs that were found have run; what `run` throws
 */
export async function continueJobs(
  store: KeyValueStore,
  run: (job: Job) => Promise<unknown>,
  log: (sentence: string, details?: { [key: string]: unknown }) => void = () => {},
): Promise<void> {
  const runs: Promise<unknown>[] = [];
  try {
    await forEachAtOnce(await store.keys("job"), { atOnce: READS_AT_ONCE }, async (key) => {
      const job = await unlessDamaged(store.get<Job>(key), (error) =>
        log("A job cannot be read and is left where it is.", { key, error: String(error) }),
      );
      if (job && (!isEnded(job.stage) || job.isMarkDue)) runs.push(run(job));
    });
  } finally {
    await Promise.allSettled(runs);
  }
  await Promise.all(runs);
}
