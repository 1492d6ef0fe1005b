const CHUNK = 8_192;

/**
 * A growing list of whole numbers, in pieces of memory that stay in place. Nothing is copied when it grows.
 */
export class GrowingNumbers {
  readonly #chunks: (Uint32Array | Float64Array)[] = [];
  readonly #Chunk: new (
    length: number,
  ) => Uint32Array | Float64Array;
  #length = 0;

  /** @param bytes 4 for numbers below 2^32, 8 for those below 2^53 */
  constructor(bytes: 4 | 8) {
    this.#Chunk = bytes === 4 ? Uint32Array : Float64Array;
  }

  push(value: number): void {
    if (this.#length % CHUNK === 0) this.#chunks.push(new this.#Chunk(CHUNK));
    const chunk = this.#chunks.at(-1) as Uint32Array | Float64Array;
    chunk[this.#length++ % CHUNK] = value;
  }

  /** The number at a position below the length. */
  at(index: number): number {
    return this.#chunks[Math.floor(index / CHUNK)]?.[index % CHUNK] as number;
  }
}
