import { randomInt } from "node:crypto";

const PROBES = 4;

/**
 * A set of names, each of a table and an id. It may wrongly say yes, but never wrongly no. For most names that were
 * never added it says no. It takes a few bits for each name. Each process has its own seed, so nobody can choose
 * names that collide.
 *
 * @see B. H. Bloom, Space/time trade-offs in hash coding with allowable errors, CACM 13 (1970)
 */
export class BloomFilter {
  readonly #words: Uint32Array;
  readonly #mask: number;
  readonly #seed = randomInt(2 ** 32);

  /**
   * @param log2Bits the filter has 2 to the power of `log2Bits` bits. `log2Bits` is from 5 to 32. With ten bits for each
   * name, about one percent of the names that were never added get a wrong yes
   */
  constructor(log2Bits: number) {
    this.#words = new Uint32Array(2 ** (log2Bits - 5));
    this.#mask = 2 ** log2Bits - 1;
  }

  add(table: string, id: string): void {
    let [bit, step] = this.#hash(table, id);
    for (let n = 0; n < PROBES; n++) {
      const at = (bit & this.#mask) >>> 0;
      this.#words[at >>> 5] = (this.#words[at >>> 5] as number) | (1 << (at & 31));
      bit = (bit + step) >>> 0;
      step = (step + n) >>> 0;
    }
  }

  mayHave(table: string, id: string): boolean {
    let [bit, step] = this.#hash(table, id);
    for (let n = 0; n < PROBES; n++) {
      const at = (bit & this.#mask) >>> 0;
      if (((this.#words[at >>> 5] as number) & (1 << (at & 31))) === 0) return false;
      bit = (bit + step) >>> 0;
      step = (step + n) >>> 0;
    }
    return true;
  }

  /** Two hashes of 32 bits, by MurmurHash3's multiplications and rotations, one character at a time. */
  #hash(table: string, id: string): [number, number] {
    let a = this.#seed;
    let b = ~this.#seed;
    for (const text of [table, id]) {
      for (let n = 0; n < text.length; n++) {
        const code = text.charCodeAt(n);
        a = Math.imul(a ^ code, 0xcc9e2d51);
        a = (a << 13) | (a >>> 19);
        b = Math.imul(b + code, 0x1b873593);
        b ^= b >>> 15;
      }
      a ^= text.length;
    }
    a = Math.imul(a ^ (a >>> 16), 0x85ebca6b);
    b = Math.imul(b ^ (b >>> 13), 0xc2b2ae35);
    return [(a ^ (a >>> 13)) >>> 0, ((b ^ (b >>> 16)) | 1) >>> 0];
  }
}
