import { setTimeout as sleep } from "node:timers/promises";
import { TallystickError } from "tallystick-protocol/errors";
import { isDatabaseAway } from "../../indexer/databaseWatch.ts";

/** How {@link lookAgain} waits. */
export type LookAgainParameters = {
  /** What is waited for, to finish the sentence "gave up waiting for …". */
  what: string;
  withinMs: number;
  everyMs: number;
  signal: AbortSignal;
};

/** How long a database may be away in one go: it is restarted, or another takes its place. */
const AWAY_MS = 120_000;

/**
 * Asks `look` again and again until it returns something other than undefined. An error ends the wait, except for a
 * database that is away for a while, and for a lock that another process holds.
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

/** The database is away, somebody holds a lock, or the place of a connection that broke is not free yet. */
function isForLater(error: unknown): boolean {
  if (error instanceof TallystickError) return error.code === "upgrade_running";
  return isDatabaseAway(error) || ["55P03", "40P01"].includes(String((error as { code?: unknown }).code));
}
