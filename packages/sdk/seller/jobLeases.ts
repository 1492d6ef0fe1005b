import { TallystickError } from "tallystick-protocol/errors";
import type { KeyValueStore } from "../store/keyValueStore.ts";

/** A job that this process may work on, and no other, as long as it keeps saying so. */
export type JobLease = {
  /** @throws LeaseLostError when another process has taken the job over, as after this one was suspended */
  requireHeld: () => Promise<void>;
  /** Forgets it: the job has ended. */
  end: () => Promise<void>;
  /** Lets go of it; nobody takes it up before so many milliseconds. */
  pause: (ms: number) => Promise<void>;
};

export type JobLeases = {
  /** Takes a job; undefined when another process has it. */
  take: (jobId: string) => Promise<JobLease | undefined>;
  /** The jobs that somebody has, or had and did not end. */
  open: () => Promise<string[]>;
};

/** The job is another process's now. */
export class LeaseLostError extends TallystickError {}

type Entry = { holder: string; until: number };

/**
 * Leases of jobs in a store that processes share, without a lock: they are numbered, the next number is written by one
 * only (`putNew`), and may be taken when the one before it has run out. Who holds one renews it.
 */
export function createJobLeases(parameters: {
  store: KeyValueStore;
  /** How long a process that says nothing keeps its jobs, in milliseconds. */
  leaseMs: number;
  now: () => number;
}): JobLeases {
  const { store, leaseMs, now } = parameters;
  const keyOf = (jobId: string, number: number): string => `lease/${jobId}-${number}`;

  function hold(jobId: string, number: number, holder: string): JobLease {
    const key = keyOf(jobId, number);
    let renewed = performance.now();
    const renew = async (): Promise<void> => {
      const at = performance.now();
      // Taken over in the meantime: it is not to be taken back.
      if ((await store.get(keyOf(jobId, number + 1))) !== undefined) return stop();
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
        if ((await store.get(keyOf(jobId, number + 1))) === undefined) return;
        throw new LeaseLostError({
          code: "lease_lost",
          message: `Another process has taken over ${jobId}.`,
          hint: "This one was suspended for too long; nothing is lost.",
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
        } else if (entry.until > now()) {
          if ((await store.get(keyOf(jobId, number + 1))) === undefined) return undefined;
          number++;
        } else number++;
      }
    },
    open: async () => {
      const ids = (await store.keys("lease")).map((key) => key.slice("lease/".length, key.lastIndexOf("-")));
      return [...new Set(ids)];
    },
  };
}
