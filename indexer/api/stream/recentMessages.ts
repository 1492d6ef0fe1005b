import type { Database } from "../database.ts";
import { finalBlock } from "../rows/checkpoint.ts";
import { latestMoments, momentsAfter } from "../rows/timeline.ts";
import { messagesOf, type StreamMessage } from "./messages.ts";
import { BEGINNING, blockOf, placeOf, positionOf } from "./position.ts";
import { lastPositionUpTo } from "./standingPosition.ts";

/** A reorg: blocks up to `position` stay, and everything after it was taken back. */
export type Reorg = { position: string };

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
  /** The last final block when the messages were last compared with the database. */
  #final = 0;

  /** @param tell called when there are new events, or when a reorg took events back */
  constructor(db: Database, tell: (reorg: Reorg | null) => void) {
    this.#db = db;
    this.#tell = tell;
  }

  get head(): string {
    return this.#messages.at(-1)?.position ?? this.#floor ?? BEGINNING;
  }

  /** The messages after a position; null if some of them are perhaps not in memory. */
  after(position: string, limit: number): StreamMessage[] | null {
    if (this.#floor === null || position < this.#floor) return null;
    // The client's position and a message may name different blocks for the same event, after the node was indexed again.
    const place = placeOf(position);
    const later = this.#messages.filter((it) => it.position > place && !it.position.startsWith(`${place}/`));
    return later.slice(0, limit);
  }

  forget(): void {
    this.#floor = null;
    this.#messages = [];
  }

  /** Reads what is new, and compares what is in memory with the database. */
  async look(): Promise<void> {
    // This is read before the rows, so that the rows have all of it.
    const final = await finalBlock(this.#db);
    const floor = this.#floor;
    if (floor === null) await this.#begin();
    else await this.#lookFrom(floor);
    this.#final = final;
  }

  async #begin(): Promise<void> {
    const latest = await latestMoments(this.#db, REMEMBERED + 1);
    const [below, ...rows] = latest;
    const full = latest.length > REMEMBERED;
    this.#messages = await messagesOf(this.#db, full || below === undefined ? rows : [below, ...rows]);
    this.#floor = full && below !== undefined ? positionOf(below) : BEGINNING;
  }

  async #lookFrom(first: string): Promise<void> {
    for (let floor = first; ; ) {
      const known = this.#messages;
      const rows = await momentsAfter(this.#db, placeOf(floor), known.length + BATCH);
      const moved = known.findIndex((it, n) => {
        const row = rows[n];
        return row === undefined || it.position !== positionOf(row);
      });
      const sure = moved < 0 ? known.length : moved;
      const fresh = await messagesOf(this.#db, rows.slice(sure));
      const changed = known.findIndex((it, n) => {
        const other = fresh[n - sure];
        return n >= sure && (other === undefined || !this.#isSameEvent(it.position, other.position));
      });
      const same = changed < 0 ? known.length : changed;
      if (same === 0 && known.length > 0) {
        // The reorg went back further than the memory.
        const last = await lastPositionUpTo(this.#db, this.#final);
        if (last < floor) floor = last;
        this.#floor = floor;
        this.#messages = [];
        this.#tell({ position: floor });
        continue;
      }
      const news = fresh.slice(same - sure);
      // Unchanged events get the blocks that the database names now, because clients come back with these blocks.
      const all = [...known.slice(0, sure), ...fresh];
      this.#messages = all.slice(-REMEMBERED);
      const isFull = all.length > REMEMBERED;
      if (isFull) this.#floor = all[all.length - REMEMBERED - 1]?.position ?? floor;
      if (same < known.length) this.#tell({ position: all[same - 1]?.position ?? floor });
      else if (news.length > 0) this.#tell(null);
      floor = this.#floor ?? floor;
      if (rows.length < known.length + BATCH) return;
    }
  }

  /**
   * Whether a known position and a position of now are of the same event. A position names a block, so an event that a
   * reorganization replaced has another position. Events of final blocks are never replaced. For such an event, a node
   * that was indexed again may name a later block.
   */
  #isSameEvent(known: string, now: string): boolean {
    if (known === now) return true;
    return placeOf(known) === placeOf(now) && blockOf(known) <= this.#final;
  }
}
