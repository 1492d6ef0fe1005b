import { setTimeout as sleepFor } from "node:timers/promises";

/** How often something is asked for again, and how long the pauses are. */
export type Retries = {
  /** Attempts in all. Default 6. */
  attempts?: number;
  /** First and longest pause between two of them, in milliseconds. Default 250 and 15,000. */
  pause?: { first: number; most: number };
  /** Waits. A test may leave the waiting out. */
  sleep?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
};

/** The longest that a server may make us wait. */
const LONGEST_WISH = 60_000;

const sleepUntilAborted = (milliseconds: number, signal: AbortSignal) =>
  sleepFor(milliseconds, undefined, { signal });

/** Counts the attempts at one thing, and pauses between them. */
export function attemptsOf({ attempts = 6, pause, sleep = sleepUntilAborted }: Retries) {
  const { first, most } = pause ?? { first: 250, most: 15_000 };
  let made = 1;
  return {
    /**
     * Pauses before the next attempt; false when there is none left.
     *
     * @param wished what the server asked us to wait, in milliseconds
     */
    async again(signal: AbortSignal, wished?: number): Promise<boolean> {
      signal.throwIfAborted();
      if (made >= attempts) return false;
      const backoff = Math.min(first * 2 ** (made - 1), most);
      made++;
      await sleep(wished === undefined ? backoff : Math.min(wished, LONGEST_WISH), signal);
      return true;
    },
    /** There was progress: the count begins again. */
    reset(): void {
      made = 1;
    },
  };
}

/** `Retry-After` in milliseconds: seconds, or a date against the answer's own. Undefined when there is none that can be read. */
export function retryAfter(headers: Headers): number | undefined {
  const value = headers.get("retry-after");
  if (value === null) return undefined;
  if (/^[0-9]{1,9}$/.test(value)) return Number(value) * 1_000;
  const wait = Date.parse(value) - Date.parse(headers.get("date") ?? "");
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}
