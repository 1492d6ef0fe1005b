import type { Database } from "../database.ts";
import { stateName } from "../rows/checkpoint.ts";
import { lastFinalMoment, latestMoments, momentsAfter } from "../rows/timeline.ts";
import { isSameEvent, isSameSubject, messagesOf, type StreamMessage } from "./messages.ts";

/** A reorg: blocks up to `position` stay, and everything after it was taken back. */
export type Reorg = { position: string };

/** The position before the first event. It sorts before all others, and a client may begin from it. */
export const BEGINNING = "0";

/**
 * Messages in memory. Live clients get their messages from here, and a reorg within this range is noticed.
 */
const REMEMBERED = 256;
const BATCH = 500;

/** The last messages of the timeline, which tell of news and of reorgs. */
export class RecentMessages {
  readonly #db: Database;
  readonly #tell: (reorg: Reorg | null) => void;
  #messages: readonly StreamMessage[] = [];
  /** Every event after this position is in memory. */
  #floor: string | null = null;
  /** The name of the state in which the messages were last compared with the database. */
  #compared = "";

  /** @param tell called when there are new events, or when a reorg took events back */
  constructor(db: Database, tell: (reorg: Reorg | null) => void) {
    this.#db = db;
    this.#tell = tell;
  }

  get head(): string {
    return this.#messages.at(-1)?.position ?? this.#floor ?? BEGINNING;
  }

  /** The messages after a position; null if some of them may not be in memory. */
  after(position: string, limit: number): StreamMessage[] | null {
    if (this.#floor === null || position < this.#floor) return null;
    return this.#messages.filter((it) => it.position > position).slice(0, limit);
  }

  forget(): void {
    this.#floor = null;
    this.#messages = [];
  }

  /** Reads what is new, and compares what is in memory with the database. */
  async look(): Promise<void> {
    // Before the rows: what happens meanwhile has another name, and is compared the next time.
    const state = await stateName(this.#db);
    const floor = this.#floor;
    if (floor === null) await this.#begin();
    else await this.#lookFrom(floor, state);
    this.#compared = state;
  }

  async #begin(): Promise<void> {
    const latest = await latestMoments(this.#db, REMEMBERED + 1);
    const [below, ...rows] = latest;
    const full = latest.length > REMEMBERED;
    this.#messages = await messagesOf(this.#db, full || below === undefined ? rows : [below, ...rows]);
    this.#floor = full && below !== undefined ? below.position : BEGINNING;
  }

  async #lookFrom(first: string, state: string): Promise<void> {
    for (let floor = first; ; ) {
      const known = this.#messages;
      const rows = await momentsAfter(this.#db, floor, known.length + BATCH);
      const moved = known.findIndex((it, n) => !isSameSubject(it, rows[n]));
      const sure = Math.min(await this.#countSure(state), moved < 0 ? known.length : moved);
      const fresh = await messagesOf(this.#db, rows.slice(sure));
      const changed = known.findIndex((it, n) => n >= sure && !isSameEvent(it, fresh[n - sure]));
      const same = changed < 0 ? known.length : changed;
      if (same === 0 && known.length > 0) {
        // The reorg went back further than the memory.
        floor = await lastFinal(this.#db, floor);
        this.#floor = floor;
        this.#messages = [];
        this.#tell({ position: floor });
        continue;
      }
      const news = fresh.slice(same - sure);
      const all = [...known.slice(0, same), ...news];
      this.#messages = all.slice(-REMEMBERED);
      const isFull = all.length > REMEMBERED;
      if (isFull) this.#floor = all[all.length - REMEMBERED - 1]?.position ?? floor;
      if (same < known.length) this.#tell({ position: all[same - 1]?.position ?? floor });
      else if (news.length > 0) this.#tell(null);
      floor = this.#floor ?? floor;
      if (rows.length < known.length + BATCH) return;
    }
  }

  /** How many of the messages need not be made again, because no reorganization can have replaced their events. */
  async #countSure(state: string): Promise<number> {
    const messages = this.#messages;
    const last = messages.at(-1);
    if (last === undefined || state === this.#compared) return messages.length;
    const final = await lastFinal(this.#db, last.position);
    const sure = messages.findIndex((it) => it.position > final);
    return sure < 0 ? messages.length : sure;
  }
}

/** The last event up to a position that no reorg can take back. */
export async function lastFinal(db: Database, position: string): Promise<string> {
  return (await lastFinalMoment(db, position)) ?? BEGINNING;
}
