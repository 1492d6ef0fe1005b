import { outOfTurns } from "tallystick-runtime/http/turns";
import { logWarning } from "../../ponderProcess.ts";
import type { Database } from "../database.ts";
import { isMoment, lastFinalMoment, latestMoments, momentsAfter } from "../rows/timeline.ts";
import { messagesOf, type StreamMessage } from "./messages.ts";

/** A reorg: blocks up to `position` stay, and everything after it was taken back. */
export type Reorg = { position: string };

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
   * a reorg removed that event while the client was away.
   */
  resumeFrom: (position: string) => Promise<string>;
  /** Calls the listener when there are new events, or when a reorg took events back. */
  subscribe: (listener: (reorg: Reorg | null) => void) => () => void;
  /** Checks for news now instead of at the next interval. */
  poll: () => Promise<void>;
};

/**
 * Messages in memory. Live clients get their messages from here, and a reorg within this range is noticed.
 */
const REMEMBERED = 256;
const BATCH = 500;

/** The position before the first event. It sorts before all others, and a client may begin from it. */
export const BEGINNING = "0";

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
  let recent: StreamMessage[] = [];
  /** Every event after this position is in `recent`. */
  let floor: string | null = null;
  let timer: NodeJS.Timeout | undefined;
  let turn: Promise<void> | undefined;
  /** When somebody last needed the timeline. */
  let neededAt = 0;

  const head = () => recent.at(-1)?.position ?? floor ?? BEGINNING;

  async function begin(): Promise<void> {
    const latest = await latestMoments(db, REMEMBERED + 1);
    const [below, ...rows] = latest;
    const full = latest.length > REMEMBERED;
    recent = await messagesOf(db, full || below === undefined ? rows : [below, ...rows]);
    floor = full && below !== undefined ? below.position : BEGINNING;
  }

  async function look(): Promise<void> {
    if (floor === null) return begin();
    for (;;) {
      const known = recent;
      const rows = await momentsAfter(db, floor, known.length + BATCH);
      const changed = known.findIndex(
        (it, n) => it.position !== rows[n]?.position || it.subject !== rows[n]?.subject,
      );
      const same = changed < 0 ? known.length : changed;
      if (same === 0 && known.length > 0) {
        // The reorg went back further than the memory.
        floor = await lastFinal(db, floor);
        recent = [];
        tell({ position: floor });
        continue;
      }
      const news = await messagesOf(db, rows.slice(same));
      recent = [...known.slice(0, same), ...news];
      if (same < known.length) tell({ position: recent[same - 1]?.position ?? floor });
      else if (news.length > 0) tell(null);
      if (recent.length > REMEMBERED) {
        floor = recent[recent.length - REMEMBERED - 1]?.position ?? floor;
        recent = recent.slice(-REMEMBERED);
      }
      if (rows.length < known.length + BATCH) return;
    }
  }

  const tell = (reorg: Reorg | null) => listeners.forEach((listener) => void listener(reorg));

  function read(): Promise<void> {
    turn ??= outOfTurns(look).finally(() => {
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
    if (!isNeeded) [floor, recent] = [null, []];
  }

  return {
    head,
    poll: () => {
      follow();
      return read();
    },
    after: async (position, limit) => {
      if (floor !== null && position >= floor) {
        return recent.filter((it) => it.position > position).slice(0, limit);
      }
      return messagesOf(db, await momentsAfter(db, position, limit));
    },
    resumeFrom: async (position) => ((await isMoment(db, position)) ? position : lastFinal(db, position)),
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

/** The last event up to a position that no reorg can take back. */
async function lastFinal(db: Database, position: string): Promise<string> {
  return (await lastFinalMoment(db, position)) ?? BEGINNING;
}
