import { leafHash, nodeHash } from "tallystick-protocol/merkle/hash";

/**
 * A literal implementation of RFC 6962 §2.1, by recursion over ranges. Faster implementations are compared with it.
 * A tree has a few special leaves, and all other leaves are equal. So the hash of a range without a special leaf
 * depends only on the length of the range. Therefore trees of 2^40 leaves are cheap.
 */
export class SpelledOutTree {
  readonly #special: Map<bigint, Uint8Array>;
  readonly #positions: bigint[];
  readonly #plain = new Map<bigint, Uint8Array>();

  constructor(special: Iterable<[bigint, Uint8Array]>) {
    this.#special = new Map(special);
    this.#positions = [...this.#special.keys()].sort((a, b) => (a < b ? -1 : 1));
  }

  leaf(index: bigint): Uint8Array {
    return this.#special.get(index) ?? PLAIN_LEAF;
  }

  /** MTH(D[from:to]) for to > from. */
  root(from: bigint, to: bigint): Uint8Array {
    const length = to - from;
    if (length === 1n) return this.leaf(from);
    const plain = !this.#positions.some((position) => position >= from && position < to);
    const known = plain ? this.#plain.get(length) : undefined;
    if (known !== undefined) return known;
    const k = from + splitPoint(length);
    const hash = nodeHash(this.root(from, k), this.root(k, to));
    if (plain) this.#plain.set(length, hash);
    return hash;
  }

  /** PATH(m, D[from:to]). */
  inclusionProof(m: bigint, from: bigint, to: bigint): Uint8Array[] {
    const length = to - from;
    if (length === 1n) return [];
    const k = splitPoint(length);
    if (m < k) return [...this.inclusionProof(m, from, from + k), this.root(from + k, to)];
    return [...this.inclusionProof(m - k, from + k, to), this.root(from, from + k)];
  }

  /** PROOF(m, D[0:n]) for 0 < m < n. */
  consistencyProof(m: bigint, n: bigint): Uint8Array[] {
    return this.#subproof(m, 0n, n, true);
  }

  #subproof(m: bigint, from: bigint, to: bigint, whole: boolean): Uint8Array[] {
    const length = to - from;
    if (m === length) return whole ? [] : [this.root(from, to)];
    const k = splitPoint(length);
    if (m <= k) return [...this.#subproof(m, from, from + k, whole), this.root(from + k, to)];
    return [...this.#subproof(m - k, from + k, to, false), this.root(from, from + k)];
  }
}

const PLAIN_LEAF = leafHash(new Uint8Array(0));

/** The largest power of two below `length`. */
function splitPoint(length: bigint): bigint {
  let k = 1n;
  while (k * 2n < length) k *= 2n;
  return k;
}
