import type { Flush } from "./flush.ts";

/**
 * The result of storing a flush at its position. `ours`: the store has it, from this call or an earlier one.
 */
export type CommitOutcome = "ours" | "anothers" | "no_predecessor";

/** A held proposal's line, by its id. */
export type HeldLine = { id: string; line: string };

/**
 * The committed rows of one ledger, which its machines share. The next position is the lock. It takes one flush only,
 * and this flush must name the hash with which the flush before it ends. Every call has a deadline. A failed call
 * throws the database's error. Then it is unknown whether the call took effect, and the same call may be made again.
 */
export type SharedStore = {
  /** Stores a flush at its position, durably. */
  commit: (flush: Flush) => Promise<CommitOutcome>;
  /**
   * The flush that contains or ends at a position, and some of the later flushes, in order. Empty when the
   * store's flushes are all later.
   *
   * @throws TallystickError `store_foreign_row` when one of them has a false seal
   */
  flushesFrom: (position: number) => Promise<Flush[]>;
  /** Whether the store has no row of the ledger. */
  isEmpty: () => Promise<boolean>;
  /** Begins the ledger's rows at a position with a hash, unless there are rows. */
  begin: (at: { size: number; head: string }) => Promise<void>;
  /**
   * Takes the lease or prolongs it, by the database's clock.
   *
   * @returns whether this process has it
   */
  lease: () => Promise<boolean>;
  /** Says that this process stands by, and whether it could write if it had the lease. */
  standBy: (isAble: boolean) => Promise<void>;
  /**
   * Gives the lease to a process that stands by and could write. This happens at most once in ten minutes, whichever
   * processes took part, so that machines that are all faulty do not pass it around.
   *
   * @returns whether another process has it now
   */
  handOver: () => Promise<boolean>;
  /** Gives the lease back. */
  release: () => Promise<void>;
  /**
   * Stores a held proposal's line, once for each id, if this process has the lease.
   *
   * @returns whether this process has it; if not, nothing is stored
   */
  putHeld: (held: HeldLine) => Promise<boolean>;
  /** The ids of held proposals that come after `after`, in order. There may be more ids than one answer has. */
  heldIds: (after: string) => Promise<string[]>;
  /** @throws TallystickError `store_foreign_row` when its seal is false */
  held: (id: string) => Promise<HeldLine | undefined>;
  close: () => Promise<void>;
};
