/** The transaction in which Ponder's handlers write at present. */
export type HeldTransaction = {
  /** A name of the transaction. */
  name: () => Promise<string>;
  /** Writes the changed rows into the transaction, and forgets them. */
  free: () => Promise<void>;
};

/** The lines after which the transaction is asked for its name: as many bytes as a part of a long segment has. */
const STEP_BYTES = 32 << 20;

/** A line counts as at least so many bytes, because its rows take more memory than a short line: a part has 25,000 lines. */
const LEAST_BYTES = Math.ceil(STEP_BYTES / 25_000);

/** The rows of so many bytes of lines stay in memory together. */
const MOST_BYTES = 4 * STEP_BYTES;

/**
 * Counts the lines of ledgers whose rows Ponder keeps in memory. Ponder writes its rows at the end of a transaction, and in the
 * history a transaction has thousands of events. So the rows of many anchors are in memory together.
 */
export class HeldRows {
  /** The bytes of lines since the transaction was asked for its name, and those before in the same transaction. */
  #latest = 0;
  #before = 0;
  #name = "";

  /** Makes room in memory for the rows of further lines. Call it before the lines are applied. */
  async makeRoom(lines: readonly string[], transaction: HeldTransaction): Promise<void> {
    if (this.#latest >= STEP_BYTES) {
      const name = await transaction.name();
      // If the transaction is new, some of the latest lines may belong to the one before. They count all the same.
      this.#before = this.#latest + (name === this.#name ? this.#before : 0);
      this.#name = name;
      this.#latest = 0;
    }
    if (this.#before >= MOST_BYTES) {
      await transaction.free();
      this.#before = 0;
    }
    for (const { length } of lines) this.#latest += Math.max(length, LEAST_BYTES);
  }
}
