import { setTimeout as sleep } from "node:timers/promises";
import { logWarning } from "./ponderProcess.ts";
import { loggedReason } from "./publicReason.ts";

/**
 * The milliseconds after each attempt but the last. An error of a handler or of the start ends the indexer, unless it comes from
 * Ponder's own connection. Ponder repeats its own statements as often.
 */
const PAUSES = [125, 250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000];

/**
 * Repeats a statement of this program until it succeeds, for about a minute if no other pauses are given.
 *
 * @param what the purpose, for the log
 * @throws the last error, or the reason of the signal
 */
export async function tryAgain<Result>(
  what: string,
  signal: AbortSignal,
  work: () => Promise<Result>,
  pauses: readonly number[] = PAUSES,
): Promise<Result> {
  for (let attempt = 0; ; attempt++) {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      const pause = pauses[attempt];
      if (pause === undefined) throw error;
      logWarning({ msg: `Could not ${what}, trying again`, cause: loggedReason(error) });
      await sleep(pause, undefined, { signal }).catch(() => {});
    }
  }
}
