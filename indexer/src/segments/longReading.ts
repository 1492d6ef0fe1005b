import { OrphanedError } from "../../relevant/retryRead.ts";
import type { Waiting } from "./retryUntilAvailable.ts";

/** How long a segment is read and checked until this is reported as a wait, in milliseconds. */
const PATIENCE_MS = 60_000;

/**
 * The reading of a long segment, part by part. A slow source may give entries for hours, or without end, and no attempt fails. So
 * what `retryUntilAvailable` does after an attempt that failed is done here after each part.
 */
export class LongReading {
  readonly #block: number;
  readonly #waiting: Waiting;
  readonly #now: () => number;
  readonly #begun: number;
  #reports = 0;
  #isOver = false;

  constructor(block: number, waiting: Waiting) {
    this.#block = block;
    this.#waiting = waiting;
    this.#now = waiting.now ?? (() => performance.now());
    this.#begun = this.#now();
  }

  /**
   * Call it between two parts.
   *
   * @param size the number of the ledger's entries before the next part
   * @throws OrphanedError if a block that many others follow has the place of the anchor's block
   */
  async goOn(size: number): Promise<void> {
    const { keepAlive, isCanonical, isBuried, onBlocked } = this.#waiting;
    await keepAlive();
    if (!(await isCanonical().catch(() => true)) && (await isBuried().catch(() => false)))
      throw new OrphanedError(this.#block);
    if (this.#isOver || this.#now() - this.#begun < PATIENCE_MS) return;
    const reason = `it is still read and checked: the entries before ${size} are there`;
    await onBlocked({ attempts: ++this.#reports, reason, logged: reason });
  }

  /** Call it when all entries are checked, or when the reading has failed. From then on nothing is reported. */
  async end(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#reports > 0) await this.#waiting.onUnblocked();
  }
}
