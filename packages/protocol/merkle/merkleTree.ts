import { InvalidInputError, TallystickError } from "../errors.ts";
import { type Sha256, sha256ByNoble } from "../sha256.ts";
import { EMPTY_ROOT, nodeHash } from "./hash.ts";

/** The number of hashes in one chunk of a {@link HashList}. */
const CHUNK = 256;

/** A list of 32-byte hashes that only grows. `push` and `at` copy the hash. */
export type HashStore = { push: (hash: Uint8Array) => void; at: (index: number) => Uint8Array };

/** Where a {@link MerkleTree} keeps its hashes, and how many leaves it has already. */
export type KeptHashes = { size: number; level: (level: number) => HashStore };

/** A list of 32-byte hashes in chunks of fixed size. When the list grows, no earlier chunk is copied. */
class HashList implements HashStore {
  readonly #chunks: Uint8Array[] = [];
  #length = 0;

  push(hash: Uint8Array): void {
    const at = this.#length++ % CHUNK;
    if (at === 0) this.#chunks.push(new Uint8Array(32 * CHUNK));
    (this.#chunks.at(-1) as Uint8Array).set(hash, 32 * at);
  }

  at(index: number): Uint8Array {
    const at = 32 * (index % CHUNK);
    return (this.#chunks[Math.floor(index / CHUNK)] as Uint8Array).slice(at, at + 32);
  }
}

/**
 * The lowest level that is kept in addition to the leaves. Levels 1 to 3 would take nearly as much memory as the
 * leaves. A node on one of these levels is computed again from its leaves, which are at most eight.
 */
const KEPT_FROM = 4;

/** The largest power of two below `n`, for n ≥ 2: where RFC 6962 splits a tree of n leaves. */
function splitPoint(n: number): number {
  let k = 1;
  while (k * 2 < n) k *= 2;
  return k;
}

/** How many hashes a tree of `size` leaves keeps at a level of {@link KeptHashes}. */
export function keptHashes(size: number, level: number): number {
  return level === 0 ? size : Math.floor(size / 2 ** (level - 1 + KEPT_FROM));
}

/**
 * An RFC 6962 Merkle tree that only grows. It keeps the leaves, and the roots of all complete subtrees of 16 leaves
 * and more: 36 bytes a leaf. So roots and proofs for any size up to the present one take O(log² n) steps. Hashes are
 * 32 bytes.
 */
export class MerkleTree {
  readonly #sha256: Sha256;
  readonly #kept: KeptHashes["level"];
  #size: number;
  readonly #leaves: HashStore;
  /** levels[h] holds the roots of the complete subtrees of 2^(h + KEPT_FROM) leaves, from the left. */
  readonly #levels: HashStore[] = [];

  /**
   * @param sha256 how nodes are hashed; in plain JavaScript unless the caller has something faster
   * @param kept where the tree keeps its hashes: level 0 has the leaves, higher levels have the roots of subtrees.
   * Default: in memory
   */
  constructor(sha256: Sha256 = sha256ByNoble, kept: KeptHashes = { size: 0, level: () => new HashList() }) {
    this.#sha256 = sha256;
    this.#kept = kept.level;
    this.#size = kept.size;
    this.#leaves = kept.level(0);
  }

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
    this.#leaves.push(leafHash);
    this.#size++;
    const width = 2 ** KEPT_FROM;
    if (this.#size % width === 0) this.#keep(this.#size / width - 1);
  }

  /** Keeps the subtree number `index` of the lowest kept level, and all higher subtrees that are complete with it. */
  #keep(index: number): void {
    let hash = this.#over(KEPT_FROM, index);
    let at = index;
    for (let height = 0; ; height++) {
      const level = this.#level(height);
      level.push(hash);
      if (at % 2 === 0) return;
      hash = nodeHash(level.at(at - 1), hash, this.#sha256);
      at = (at - 1) / 2;
    }
  }

  #level(height: number): HashStore {
    this.#levels[height] ??= this.#kept(height + 1);
    return this.#levels[height];
  }

  #nodeAt(height: number, index: number): Uint8Array {
    if (height >= KEPT_FROM) return this.#level(height - KEPT_FROM).at(index);
    if (height === 0) return this.#leaves.at(index);
    return this.#over(height, index);
  }

  /** Computes a node from the two nodes below it. */
  #over(height: number, index: number): Uint8Array {
    const left = this.#nodeAt(height - 1, 2 * index);
    return nodeHash(left, this.#nodeAt(height - 1, 2 * index + 1), this.#sha256);
  }

  /** The hash of leaf `index`. */
  leaf(index: number): Uint8Array {
    if (!Number.isSafeInteger(index) || index < 0 || index >= this.#size) {
      this.#refuse("index", `must be an integer from 0 to ${this.#size - 1}`);
    }
    return this.#leaves.at(index);
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
    return this.#nodeAt(height, index);
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
    // Whether this part is still the whole old tree. If it is, the verifier knows its root already.
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

  /** Root of the leaves [low, high). `low` must be a multiple of the size of every complete subtree among them. */
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
      parts.push(this.#nodeAt(height, at / width));
      at += width;
    }
    let hash = parts.pop() as Uint8Array;
    while (parts.length > 0) hash = nodeHash(parts.pop() as Uint8Array, hash, this.#sha256);
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
