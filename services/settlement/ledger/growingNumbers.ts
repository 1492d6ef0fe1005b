const CHUNK = 8_192;

/**
 * A growing list of whole numbers below 2^53, in pieces of memory that stay in place. Nothing is copied when it grows.
 */
export class GrowingNumbers {
  readonly #chunks: Float64Array[] = [];
  #length = 0;

  push(value: number): void {
    if (this.#length % CHUNK === 0) this.#chunks.push(new Float64Array(CHUNK));
    const chunk = this.#chunks.at(-1) as Float64Array;
    chunk[this.#length++ % CHUNK] = value;
  }

  /** The number at a position below the length. */
  at(index: number): number {
    return this.#chunks[Math.floor(index / CHUNK)]?.[index % CHUNK] as number;
  }
}
