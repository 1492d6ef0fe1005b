import { setTimeout as sleep } from "node:timers/promises";
import { TallystickError } from "tallystick-protocol/errors";
import { isDatabaseAway } from "../../indexer/databaseWatch.ts";

/** How {@link lookAgain} waits. */
export type LookAgainParameters = {
  /** The name of the event, which completes the sentence "gave up waiting for …". */
  what: string;
  withinMs: number;
  everyMs: number;
  signal: AbortSignal;
};

/**
 * The longest time in which every attempt may fail for a reason that passes, in milliseconds. In this time a database
 * can restart, or be replaced.
 */
const AWAY_MS = 120_000;

/**
 * Calls `look` again and again until it returns something other than undefined. The wait also goes on if the database
 * cannot be reached, or if another process holds a lock, but for two minutes at most. Any other error ends the wait.
 *
 * @throws what `look` throws; TallystickError `wait_timeout`; the signal's reason when aborted
 */
export async function lookAgain<T>(
  look: () => Promise<T | undefined>,
  { what, withinMs, everyMs, signal }: LookAgainParameters,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  let awaySince: number | undefined;
  let cause: unknown;
  for (;;) {
    signal.throwIfAborted();
    try {
      const answer = await look();
      if (answer !== undefined) return answer;
      awaySince = undefined;
      cause = undefined;
    } catch (error) {
      if (!isForLater(error)) throw error;
      cause = error;
      awaySince ??= performance.now();
      if (performance.now() - awaySince > AWAY_MS) throw error;
    }
    if (performance.now() + everyMs > deadline) {
      throw new TallystickError({
        code: "wait_timeout",
        message: `gave up waiting for ${what} after ${Math.round(withinMs / 1000)} s${cause instanceof Error ? `: ${cause.message}` : ""}`,
        cause,
      });
    }
    await sleep(everyMs, undefined, { signal }).catch(() => {});
  }
}

/**
 * Whether a later attempt may succeed. This is so if the database cannot be reached, if another process holds a lock,
 * or if the server has not noticed yet that an old connection broke.
 */
function isForLater(error: unknown): boolean {
  if (error instanceof TallystickError) return error.code === "upgrade_running";
  return isDatabaseAway(error) || ["55P03", "40P01"].includes(String((error as { code?: unknown }).code));
}
