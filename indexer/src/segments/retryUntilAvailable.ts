import { setTimeout as sleep } from "node:timers/promises";
import { loggedReason, publicReason } from "../../publicReason.ts";

/** A failed attempt. `reason` is for strangers. `logged` is for the operator's log, and may quote a stranger. */
export type Failure = { attempts: number; reason: string; logged: string };

/** The actions while something is not available. */
export type Waiting = {
  /**
   * Whether the block of this work is still on the chain. Only a certain answer counts as no: another block has the
   * number. A node that lags behind must not cause a skip.
   */
  isCanonical: () => Promise<boolean>;
  /** Whether so many blocks follow another block with this number that the chain does not come back. */
  isBuried: () => Promise<boolean>;
  /** Called while waiting. Its errors are the caller's own and end the wait. */
  keepAlive: () => Promise<void>;
  onBlocked: (failure: Failure) => Promise<void>;
  onUnblocked: () => Promise<void>;
  /** Aborted when the process shuts down; then this rejects. */
  signal: AbortSignal;
  /** First and longest pause between two attempts, in milliseconds. Default 250 and 15,000. */
  pause?: { first: number; most: number };
  /** Milliseconds of a clock that never goes back. */
  now?: () => number;
};

/**
 * How long every answer must name another block, in milliseconds. Some nodes behind an address hold a sibling of the
 * block for a moment. If Ponder never sees this sibling, it keeps the block, and a handler that gave up would have lost
 * it. A longer wait costs nothing, because Ponder queues the next blocks meanwhile.
 */
const GONE_MS = 120_000;

/**
 * Tries until it succeeds, without a time limit. An anchor proves that its entries exist, and without them
 * everything after the anchor would be wrong.
 *
 * @returns the result, or null when a reorg removed the block: its place is taken by a block that many others follow, or
 * every answer of two minutes names another block
 * @throws whatever `keepAlive` throws, and the abort reason of `signal`
 */
export async function retryUntilAvailable<Result>(
  attempt: () => Promise<Result>,
  waiting: Waiting,
): Promise<{ result: Result } | null> {
  const { signal, pause = { first: 250, most: 15_000 }, now = () => performance.now() } = waiting;
  let goneSince: number | undefined;
  for (let attempts = 1, wait = pause.first; ; attempts++, wait = Math.min(2 * wait, pause.most)) {
    try {
      const result = await attempt();
      if (attempts > 1) await waiting.onUnblocked();
      return { result };
    } catch (error) {
      signal.throwIfAborted();
      await waiting.onBlocked({ attempts, reason: publicReason(error), logged: loggedReason(error) });
    }
    await sleep(wait, undefined, { signal });
    await waiting.keepAlive();
    if (await waiting.isCanonical().catch(() => true)) {
      goneSince = undefined;
      continue;
    }
    goneSince ??= now();
    if (now() - goneSince >= GONE_MS || (await waiting.isBuried().catch(() => false))) {
      await waiting.onUnblocked();
      return null;
    }
  }
}
