import { forEachAtOnce } from "../forEachAtOnce.ts";
import type { KeyValueStore } from "../store/keyValueStore.ts";
import { escrowDeadline } from "./escrowDeadline.ts";
import type { Job } from "./job.ts";
import { isEnded } from "./jobRunner.ts";

/** How long the work of an ended job is kept, in milliseconds: 90 days. */
const KEPT_MS = 90 * 86_400_000;

/** The time between two passes, in milliseconds, and how many jobs a pass reads: altogether, and at the same time. */
const PASS_MS = 3_600_000;
const MAX_READ = 2_000;
const READS_AT_ONCE = 8;

/** The store's key for the last key of the last pass. Job ids have no order, so a restart must not begin again. */
const PLACE = "oldwork/last";

/** The fields of a job that are its work, and what only the work needs. */
const WORK: readonly string[] = [
  ...["params", "result", "verification", "answer", "payment"],
  ...["request", "listing", "callbackUrl", "isMarkDue"],
];

/**
 * Returns a function that deletes the params and the results of jobs that ended long ago. The jobs themselves stay, so no
 * nonce can be used again. A job stays whole while its receipt or its callback is on its way, after the ledger has refused
 * its receipt, and while its escrow can hold money. The function does one pass over a part of the jobs, at most once an hour.
 *
 * @param parameters.keepMs how long they are kept. Default: 90 days
 * @param parameters.now milliseconds since 1970
 */
export function createOldWork(parameters: {
  store: KeyValueStore;
  keepMs?: number | undefined;
  now: () => number;
}): () => Promise<void> {
  const { store, keepMs = KEPT_MS, now } = parameters;
  let passedAt = Number.NEGATIVE_INFINITY;

  const isOld = (job: Job): boolean =>
    isEnded(job.stage) &&
    job.forgottenAt === undefined &&
    Math.max(job.completedAt ?? 0, job.dueAt, escrowDeadline(job)) + keepMs <= now();

  const isWaiting = async (id: string): Promise<boolean> => {
    for (const folder of ["outbox", "refused", "callback"])
      if ((await store.get(`${folder}/${id}`)) !== undefined) return true;
    return false;
  };

  return async () => {
    if (now() - passedAt < PASS_MS) return;
    passedAt = now();
    // Empty after the last job.
    const last = (await store.get<string>(PLACE)) ?? "";
    const left = (await store.keys("job")).filter((key) => key > last).sort();
    const keys = left.slice(0, MAX_READ);
    const next = keys.length < left.length ? (keys.at(-1) ?? "") : "";
    // The place is stored first. Otherwise a job that cannot be read would stop all later passes.
    if (next !== last) await store.put(PLACE, next);
    const faults: unknown[] = [];
    await forEachAtOnce(keys, { atOnce: READS_AT_ONCE }, async (key) => {
      try {
        const job = await store.get<Job>(key);
        if (job && isOld(job) && !(await isWaiting(job.id))) await store.put(key, withoutWork(job, now()));
      } catch (error) {
        // The work of the other jobs must not stay for one job that cannot be read.
        faults.push(error);
      }
    });
    if (faults.length > 0) throw faults[0];
  };
}

function withoutWork(job: Job, forgottenAt: number): Job {
  const rest = Object.entries(job).filter(([field]) => !WORK.includes(field));
  return { ...(Object.fromEntries(rest) as Job), params: {}, forgottenAt };
}
