/** A list of whole numbers below 2^32 that only grows: four bytes each. */
export class GrowingNumbers {
  #values = new Uint32Array(1024);
  #length = 0;

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const grown = new Uint32Array(this.#length * 2);
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values[this.#length++] = value;
  }

  /** The number at a position that has one. */
  at(index: number): number {
    return this.#values[index] as number;
  }
}
