import { outOfTurns } from "tallystick-runtime/http/turns";
import { logWarning } from "../../ponderProcess.ts";
import type { Database } from "../database.ts";
import { momentsAfter } from "../rows/timeline.ts";
import { messagesOf, type StreamMessage } from "./messages.ts";
import { placeOf } from "./position.ts";
import { RecentMessages, type Reorg } from "./recentMessages.ts";
import { standingPosition } from "./standingPosition.ts";

/**
 * The growing timeline, read from the database. So a replica, which indexes nothing itself, sends the same
 * stream.
 */
export type TimelineFeed = {
  /** The latest position that is known. */
  head: () => string;
  /** The events after a position, the oldest first. Recent ones come from memory. */
  after: (position: string, limit: number) => Promise<StreamMessage[]>;
  /**
   * The position from which a client can continue after it received everything up to `position`. It is lower if
   * a reorg may have replaced some of it while the client was away.
   */
  resumeFrom: (position: string) => Promise<string>;
  /** Calls the listener when there are new events, or when a reorg took events back. */
  subscribe: (listener: (reorg: Reorg | null) => void) => () => void;
  /** Checks for news now instead of at the next interval. */
  poll: () => Promise<void>;
};

/**
 * How long the timeline is still followed without listeners, in milliseconds. So the last messages are not read again
 * for each client, even if clients often come and go.
 */
const LINGER_MS = 10_000;

/**
 * Follows the timeline while there are listeners.
 *
 * @param parameters.everyMs the time between two reads of the database
 */
export function createTimelineFeed({ db, everyMs }: { db: Database; everyMs: number }): TimelineFeed {
  const listeners = new Set<(reorg: Reorg | null) => void>();
  const recent = new RecentMessages(db, (reorg) => {
    for (const listener of listeners) listener(reorg);
  });
  let timer: NodeJS.Timeout | undefined;
  let turn: Promise<void> | undefined;
  /** When somebody last needed the timeline. */
  let neededAt = 0;

  function read(): Promise<void> {
    turn ??= outOfTurns(() => recent.look()).finally(() => {
      turn = undefined;
    });
    return turn;
  }

  /** Follows the timeline from now on, until nobody has needed it for a while. */
  function follow(): void {
    neededAt = performance.now();
    if (timer === undefined) timer = setTimeout(readOn, everyMs).unref();
  }

  async function readOn(): Promise<void> {
    const isRead = await read().then(
      () => true,
      (error) => logWarning({ msg: "Could not read the timeline", cause: String(error) }),
    );
    const isNeeded = listeners.size > 0 || (isRead && performance.now() - neededAt < LINGER_MS);
    timer = isNeeded ? setTimeout(readOn, everyMs).unref() : undefined;
    // What happens from now on is read when the next listener comes.
    if (!isNeeded) recent.forget();
  }

  return {
    head: () => recent.head,
    poll: () => {
      follow();
      return read();
    },
    after: async (position, limit) =>
      recent.after(position, limit) ??
      (await messagesOf(db, await momentsAfter(db, placeOf(position), limit))),
    resumeFrom: (position) => standingPosition(db, position),
    subscribe: (listener) => {
      listeners.add(listener);
      follow();
      return () => {
        listeners.delete(listener);
        neededAt = performance.now();
      };
    },
  };
}
