import type { Flush } from "./flush.ts";

/** What came of putting a flush at its position: `ours` when it stands there, by this call or an earlier one. */
export type CommitOutcome = "ours" | "anothers" | "no_predecessor";

/** A held proposal's line, by its id. */
export type HeldLine = { id: string; line: string };

/**
 * The committed rows of one ledger, which its machines share. The next position is the lock: a flush stands there once, and
 * only behind the flush that it names. Every call has a deadline. It throws what the database said when it did not work:
 * then nobody knows whether it did, and the same call may be made again.
 */
export type SharedStore = {
  /**
   * Puts a flush at its position, durably.
   */
  commit: (flush: Flush) => Promise<CommitOutcome>;
  /**
   * The flush that contains or ends at a position, and some of those behind it, in order. Empty when the store has none so
   * early.
   *
   * @throws TallystickError `store_foreign_row` when one of them has a false seal
   */
  flushesFrom: (position: number) => Promise<Flush[]>;
  /** Whether it has anything of the ledger. */
  isEmpty: () => Promise<boolean>;
  /** Begins the ledger's rows at a position with a hash, unless it has some. */
  begin: (at: { size: number; head: string }) => Promise<void>;
  /**
   * Takes the lease or prolongs it, by the database's clock.
   *
   * @returns whether this process has it
   */
  lease: () => Promise<boolean>;
  /** Gives the lease back. */
  release: () => Promise<void>;
  /** Keeps a held proposal's line; the same id once. */
  putHeld: (held: HeldLine) => Promise<void>;
  /** Ids of held proposals in their order, behind one. */
  heldIds: (after: string) => Promise<string[]>;
  /** @throws TallystickError `store_foreign_row` when its seal is false */
  held: (id: string) => Promise<HeldLine | undefined>;
  close: () => Promise<void>;
};
