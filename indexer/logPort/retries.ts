import { setTimeout as sleepFor } from "node:timers/promises";

/** The number of attempts, and the pauses between them. */
export type Retries = {
  /** The number of all attempts. Default 6. */
  attempts?: number;
  /** The first and the longest pause between two attempts, in milliseconds. Default 250 and 15,000. */
  pause?: { first: number; most: number };
  /** The function that waits. Tests replace it. */
  sleep?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
};

/** The longest wait that a server may ask for. */
const MAX_WAIT_MS = 60_000;

const sleepUntilAborted = (milliseconds: number, signal: AbortSignal) =>
  sleepFor(milliseconds, undefined, { signal });

/** Counts the attempts of one request, and pauses between them. */
export function attemptsOf({ attempts = 6, pause, sleep = sleepUntilAborted }: Retries) {
  const { first, most } = pause ?? { first: 250, most: 15_000 };
  let made = 1;
  return {
    /**
     * Pauses before the next attempt. Returns false if no attempt is left.
     *
     * @param wished the wait that the server asked for, in milliseconds
     */
    async again(signal: AbortSignal, wished?: number): Promise<boolean> {
      signal.throwIfAborted();
      if (made >= attempts) return false;
      const backoff = Math.min(first * 2 ** (made - 1), most);
      made++;
      await sleep(wished === undefined ? backoff : Math.min(wished, MAX_WAIT_MS), signal);
      return true;
    },
    /** Starts the count again after progress. */
    reset(): void {
      made = 1;
    },
  };
}

/**
 * Reads `Retry-After` in milliseconds. It is a number of seconds, or a date that is compared with the
 * answer's own date. Undefined if it is missing or unreadable.
 */
export function retryAfter(headers: Headers): number | undefined {
  const value = headers.get("retry-after");
  if (value === null) return undefined;
  if (/^[0-9]{1,9}$/.test(value)) return Number(value) * 1_000;
  const wait = Date.parse(value) - Date.parse(headers.get("date") ?? "");
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}
