import type { SignedRecord } from "tallystick-protocol/records/record";
import type { KnownSigners } from "tallystick-protocol/signatures/knownSigners";
import { askSigners } from "tallystick-runtime/signatures/askSigners";
import type { SignatureThreads } from "tallystick-runtime/signatures/signatureThreads";

/** The number of records whose signatures go to a thread together. */
export const BATCH = 32;

/** The most batches that threads read after the current batch, so that a long segment is not in memory twice. */
const BATCHES_AHEAD = 16;

/**
 * Lets threads read the signatures of a segment's records while the main thread handles earlier records.
 * Their results go into a cache that the main thread reads before it recovers a key. If a result is missing, the main
 * thread recovers the key itself. A segment that is smaller than a batch needs no threads.
 */
export class SignersAhead {
  readonly #records: readonly (SignedRecord | null)[];
  readonly #threads: Pick<SignatureThreads, "ask">;
  readonly #known: KnownSigners;
  readonly #batches: Promise<void>[] = [];

  /** @param records the records with signatures to check; null at the places of all other entries */
  constructor(
    records: readonly (SignedRecord | null)[],
    threads: Pick<SignatureThreads, "ask">,
    known: KnownSigners,
  ) {
    this.#records = records;
    this.#threads = threads;
    this.#known = known;
    if (records.length >= BATCH) this.#goOn(0);
  }

  /**
   * Resolves when the threads' result for record `index` is in the cache. Call it for one record after the
   * other.
   */
  async until(index: number): Promise<void> {
    if (index % BATCH !== 0 || this.#batches.length === 0) return;
    const batch = index / BATCH;
    this.#goOn(batch);
    await this.#batches[batch];
  }

  #goOn(batch: number): void {
    while (
      this.#batches.length <= batch + BATCHES_AHEAD &&
      this.#batches.length * BATCH < this.#records.length
    ) {
      this.#batches.push(this.#ask(this.#batches.length * BATCH));
    }
  }

  async #ask(from: number): Promise<void> {
    const records = this.#records.slice(from, from + BATCH).filter((record) => record !== null);
    await askSigners(records, this.#threads, this.#known);
  }
}
