import { InvalidInputError, TallystickError } from "../errors.ts";
import { EMPTY_ROOT, nodeHash } from "./hash.ts";

/** A list of 32-byte hashes in one growing buffer: 32 bytes each, no object per hash. */
class HashList {
  #bytes = new Uint8Array(32 * 64);
  #length = 0;

  push(hash: Uint8Array): void {
    const end = 32 * (this.#length + 1);
    if (end > this.#bytes.length) {
      const grown = new Uint8Array(this.#bytes.length * 2);
      grown.set(this.#bytes);
      this.#bytes = grown;
    }
    this.#bytes.set(hash, 32 * this.#length++);
  }

  at(index: number): Uint8Array {
    return this.#bytes.slice(32 * index, 32 * (index + 1));
  }
}

/** The largest power of two below `n`, for n ≥ 2: where RFC 6962 splits a tree of n leaves. */
function splitPoint(n: number): number {
  let k = 1;
  while (k * 2 < n) k *= 2;
  return k;
}

/**
 * An RFC 6962 Merkle tree that only grows. It keeps the roots of all complete subtrees (64 bytes a leaf), so that roots
 * and proofs for any size up to the present one take O(log² n) steps. Hashes are 32 bytes.
 */
export class MerkleTree {
  #size = 0;
  /** levels[h] holds the roots of the complete subtrees of 2^h leaves, from the left. */
  readonly #levels: HashList[] = [];

  /** Number of leaves. */
  get size(): number {
    return this.#size;
  }

  /** Adds a leaf by its hash. */
  append(leafHash: Uint8Array): void {
    if (leafHash.length !== 32) {
      throw new TallystickError({
        code: "not_a_hash",
        message: `a leaf hash has 32 bytes, not ${leafHash.length}`,
      });
    }
    let hash = leafHash;
    let index = this.#size;
    for (let height = 0; ; height++) {
      let level = this.#levels[height];
      if (level === undefined) {
        level = new HashList();
        this.#levels.push(level);
      }
      level.push(hash);
      if (index % 2 === 0) break;
      hash = nodeHash(level.at(index - 1), hash);
      index = (index - 1) / 2;
    }
    this.#size++;
  }

  /** The hash of leaf `index`. */
  leaf(index: number): Uint8Array {
    if (!Number.isSafeInteger(index) || index < 0 || index >= this.#size) {
      this.#refuse("index", `must be an integer from 0 to ${this.#size - 1}`);
    }
    return (this.#levels[0] as HashList).at(index);
  }

  /**
   * The root of the complete subtree of 2^height leaves that is number `index` from the left.
   *
   * @throws InvalidInputError naming `index` when the tree has no such complete subtree
   */
  node(height: number, index: number): Uint8Array {
    const count = Math.floor(this.#size / 2 ** height);
    if (!Number.isSafeInteger(index) || index < 0 || index >= count) {
      this.#refuse("index", `must be an integer below ${count}`);
    }
    return (this.#levels[height] as HashList).at(index);
  }

  /**
   * The root over the first `size` leaves (default: all).
   *
   * @throws InvalidInputError naming `size` when the tree has never had that size
   */
  root(size = this.#size): Uint8Array {
    this.#checkSize(size, "size", this.#size);
    return size === 0 ? EMPTY_ROOT : this.#subtree(0, size);
  }

  /**
   * The audit path of leaf `index` in the tree of the first `size` leaves, from the leaf up (RFC 6962 §2.1.1).
   *
   * @throws InvalidInputError naming `size` or `index`
   */
  inclusionProof(index: number, size = this.#size): Uint8Array[] {
    this.#checkSize(size, "size", this.#size);
    if (!Number.isSafeInteger(index) || index < 0 || index >= size) {
      this.#refuse(
        "index",
        size === 0 ? "there is no leaf in an empty tree" : `must be an integer from 0 to ${size - 1}`,
      );
    }
    const proof: Uint8Array[] = [];
    let [low, high] = [0, size];
    while (high - low > 1) {
      const middle = low + splitPoint(high - low);
      if (index < middle) {
        proof.push(this.#subtree(middle, high));
        high = middle;
      } else {
        proof.push(this.#subtree(low, middle));
        low = middle;
      }
    }
    return proof.reverse();
  }

  /**
   * The proof that the tree of `from` leaves is the beginning of the tree of `to` leaves (RFC 6962 §2.1.2). Empty for
   * `from = 0` and for `from = to`.
   *
   * @throws InvalidInputError naming `from` or `to`
   */
  consistencyProof(from: number, to = this.#size): Uint8Array[] {
    this.#checkSize(to, "to", this.#size);
    this.#checkSize(from, "from", to);
    if (from === 0 || from === to) return [];
    const proof: Uint8Array[] = [];
    let [low, high] = [0, to];
    // Whether the old tree's part below is still the old tree itself, whose root the verifier knows.
    let whole = true;
    while (from !== high) {
      const middle = low + splitPoint(high - low);
      if (from <= middle) {
        proof.push(this.#subtree(middle, high));
        high = middle;
      } else {
        proof.push(this.#subtree(low, middle));
        low = middle;
        whole = false;
      }
    }
    if (!whole) proof.push(this.#subtree(low, high));
    return proof.reverse();
  }

  /** Root of the leaves [low, high), where `low` is a multiple of every complete subtree in it. */
  #subtree(low: number, high: number): Uint8Array {
    const parts: Uint8Array[] = [];
    let at = low;
    while (at < high) {
      let height = 0;
      let width = 1;
      while (at + width * 2 <= high && at % (width * 2) === 0) {
        width *= 2;
        height++;
      }
      parts.push((this.#levels[height] as HashList).at(at / width));
      at += width;
    }
    let hash = parts.pop() as Uint8Array;
    while (parts.length > 0) hash = nodeHash(parts.pop() as Uint8Array, hash);
    return hash;
  }

  #checkSize(size: number, field: string, most: number): void {
    if (!Number.isSafeInteger(size) || size < 0 || size > most) {
      this.#refuse(field, `must be an integer from 0 to ${most}`);
    }
  }

  #refuse(field: string, message: string): never {
    throw new InvalidInputError({ issues: [{ field, message }], code: "not_in_tree" });
  }
}
