import { hostOf } from "tallystick-protocol/net/publicAddress";
import type { LocalAccount } from "viem";
import { signCallback } from "../readCallback.ts";
import type { Fetch } from "../requestService.ts";
import type { KeyValueStore } from "../store/keyValueStore.ts";
import type { Job } from "./job.ts";

export type CallbacksParameters = {
  account: LocalAccount;
  store: KeyValueStore;
  fetch: Fetch;
  log: (sentence: string, details?: { [key: string]: unknown }) => void;
  /** Milliseconds until the first repetition; doubles each time. Default 1,000. */
  retryMs?: number;
};

export type Callbacks = {
  /**
   * Stores a note that the buyer has to be told about a job, before the job's end is stored. So a crash does not lose
   * the note.
   */
  note: (job: Job) => Promise<void>;
  /** Tells the buyer in the background how its job ended. */
  tell: (job: Job) => Promise<void>;
  /** Continues with the stored messages. */
  start: () => Promise<void>;
  close: () => Promise<void>;
};

/** The most attempts. After them the buyer can still ask for the job at its URL. */
const MAX_ATTEMPTS = 8;

/**
 * How many callbacks to one host may be repeated at the same time. Others to this host are tried once. A buyer names the
 * address, which may be a stranger's. So many hires, which may fail and cost nothing, cannot become eight times as many requests.
 */
const MAX_REPEATED_OF_HOST = 8;

/** How long a buyer may take to answer a callback, in milliseconds. */
const TIMEOUT_MS = 10_000;

/**
 * Posts the signed outcome of a job to its `callback_url`, and repeats this until the answer is a success (SHP
 * §7.2).
 */
export function createCallbacks({
  account,
  store,
  fetch,
  log,
  retryMs = 1_000,
}: CallbacksParameters): Callbacks {
  const timers = new Set<ReturnType<typeof setTimeout>>();
  const underWay = new Set<Promise<void>>();
  /** The host of each callback that is repeated, by the job's id. */
  const repeated = new Map<string, string>();
  let closed = false;

  /** Whether a callback that failed may be repeated. */
  function mayRepeat(id: string, host: string): boolean {
    const isFull = [...repeated.values()].filter((it) => it === host).length >= MAX_REPEATED_OF_HOST;
    if (!repeated.has(id) && isFull) return false;
    repeated.set(id, host);
    return true;
  }

  /** @returns whether it is repeated */
  async function post(id: string, attempt: number): Promise<boolean> {
    const job = await store.get<Job>(`job/${id}`);
    if (!job?.callbackUrl) {
      await store.delete(`callback/${id}`);
      return false;
    }
    // An earlier process made the note, but did not store the job's end. The process that continues the job tells the
    // buyer.
    if (job.stage !== "completed" && job.stage !== "failed") return false;
    const message =
      job.stage === "completed"
        ? { ...job.answer, job_id: id, status: "completed" as const }
        : { job_id: id, status: "failed" as const, error: job.failure };
    try {
      const response = await fetch(job.callbackUrl, {
        method: "POST",
        body: JSON.stringify(await signCallback(message, account)),
        headers: { "content-type": "application/json" },
        redirect: "error",
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      await response.body?.cancel();
      if (!response.ok) throw new Error(`it answered ${response.status}`);
      await store.delete(`callback/${id}`);
      return false;
    } catch (error) {
      if (attempt >= MAX_ATTEMPTS || !mayRepeat(id, hostOf(new URL(job.callbackUrl)))) {
        log("A buyer could not be called back.", { job: id, url: job.callbackUrl, error: String(error) });
        await store.delete(`callback/${id}`);
        return false;
      }
      later(id, attempt + 1);
      return true;
    }
  }

  function run(id: string, attempt: number): Promise<void> {
    const work = post(id, attempt)
      .catch((error) => {
        log("A callback failed.", { job: id, error: String(error) });
        return false;
      })
      .then((isRepeated) => {
        if (!isRepeated) repeated.delete(id);
        underWay.delete(work);
      });
    underWay.add(work);
    return work;
  }

  function later(id: string, attempt: number): void {
    if (closed) return;
    const timer = setTimeout(
      () => {
        timers.delete(timer);
        void run(id, attempt);
      },
      retryMs * 2 ** (attempt - 2),
    );
    (timer as { unref?: () => void }).unref?.();
    timers.add(timer);
  }

  return {
    note: async ({ id }) => await store.put(`callback/${id}`, true),
    tell: async ({ id }) => {
      // If the note is gone, the buyer was told already, by the start of this process or by another process.
      if ((await store.get(`callback/${id}`)) !== undefined) void run(id, 1);
    },
    start: async () => {
      for (const key of await store.keys("callback")) void run(key.slice("callback/".length), 1);
    },
    close: async () => {
      closed = true;
      for (const timer of timers) clearTimeout(timer);
      await Promise.allSettled(underWay);
    },
  };
}
