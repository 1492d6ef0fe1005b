import { TallystickError } from "tallystick-protocol/errors";
import type { KeyValueStore } from "./keyValueStore.ts";

/** The exclusive right of this process to work on a job. It lasts as long as the process renews it. */
export type JobLease = {
  /**
   * @throws LeaseLostError when another process has taken the job over, for example while this process was suspended
   */
  requireHeld: () => Promise<void>;
  /** Deletes the lease, because the job has ended. */
  end: () => Promise<void>;
  /** Gives the lease back. No process takes it for this many milliseconds. */
  pause: (ms: number) => Promise<void>;
};

export type JobLeases = {
  /** Takes a job; undefined when another process has it. */
  take: (jobId: string) => Promise<JobLease | undefined>;
  /** The jobs with a lease that was not ended, held or expired. */
  open: () => Promise<string[]>;
};

/** Another process has taken the job. */
export class LeaseLostError extends TallystickError {}

/**
 * The most that a lease can have left, in milliseconds. A lease with more was dated by a wrong clock, and counts
 * as expired: otherwise its job would wait until that date.
 */
const MOST_LEFT_MS = 86_400_000;

type Entry = { holder: string; until: number };

/**
 * Leases of jobs in a store that several processes share, without a lock. The leases of a job are numbered. A
 * process takes a job by writing the next number, once the lease before it has expired; only one process can
 * write it (`putNew`). The holder renews its lease.
 */
export function createJobLeases(parameters: {
  store: KeyValueStore;
  /** How long a silent process keeps its jobs, in milliseconds. */
  leaseMs: number;
  now: () => number;
  /** Where the leases are in the store. Default `lease`. */
  folder?: string;
}): JobLeases {
  const { store, leaseMs, now, folder = "lease" } = parameters;
  const keyOf = (jobId: string, number: number): string => `${folder}/${jobId}-${number}`;

  function hold(jobId: string, number: number, holder: string): JobLease {
    const key = keyOf(jobId, number);
    let renewed = performance.now();
    /**
     * Whether no other process has taken the job over. If another process took the job over and has ended it, there is
     * no lease with a later number, but this lease is gone too.
     */
    const isHeld = async (): Promise<boolean> =>
      (await store.get<Entry>(key))?.holder === holder &&
      (await store.get(keyOf(jobId, number + 1))) === undefined;
    const renew = async (): Promise<void> => {
      const at = performance.now();
      if (!(await isHeld())) return stop();
      await store.put(key, { holder, until: now() + leaseMs } satisfies Entry);
      renewed = at;
    };
    let renewing: Promise<void> = Promise.resolve();
    const timer = setInterval(() => {
      renewing = renewing.then(renew).catch(() => {});
    }, leaseMs / 3);
    (timer as { unref?: () => void }).unref?.();
    const stop = (): void => clearInterval(timer);
    return {
      requireHeld: async () => {
        if (performance.now() - renewed >= leaseMs) await renew();
        if (await isHeld()) return;
        throw new LeaseLostError({
          code: "lease_lost",
          message: `Another process has taken over ${jobId}.`,
          hint: "This process was suspended for too long. Nothing is lost.",
        });
      },
      end: async () => {
        stop();
        await renewing;
        for (let at = number; at > 0; at--) await store.delete(keyOf(jobId, at));
      },
      pause: async (ms) => {
        stop();
        await renewing;
        await store.put(key, { holder, until: now() + ms } satisfies Entry);
      },
    };
  }

  return {
    take: async (jobId) => {
      const holder = crypto.randomUUID();
      for (let number = 1; ; ) {
        const entry = await store.get<Entry>(keyOf(jobId, number));
        if (entry === undefined) {
          const mine: Entry = { holder, until: now() + leaseMs };
          if (await store.putNew(keyOf(jobId, number), mine)) return hold(jobId, number, holder);
        } else if (entry.until > now() && entry.until <= now() + MOST_LEFT_MS) {
          if ((await store.get(keyOf(jobId, number + 1))) === undefined) return undefined;
          number++;
        } else number++;
      }
    },
    open: async () => {
      const keys = await store.keys(folder);
      const ids = keys.map((key) => key.slice(folder.length + 1, key.lastIndexOf("-")));
      return [...new Set(ids)];
    },
  };
}
