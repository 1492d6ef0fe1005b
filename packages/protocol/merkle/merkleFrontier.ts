import { TallystickError } from "../errors.ts";
import { type Sha256, sha256ByNoble } from "../sha256.ts";
import { EMPTY_ROOT, nodeHash } from "./hash.ts";

/**
 * The right edge of an RFC 6962 tree. It appends leaves and computes the root in O(log n) memory, but makes no proofs.
 * Hashes are 32 bytes.
 */
export class MerkleFrontier {
  readonly #sha256: Sha256;
  #size = 0;
  /** Roots of the complete subtrees that make up the tree, largest (leftmost) first. */
  #roots: Uint8Array[] = [];

  /** @param sha256 how nodes are hashed; in plain JavaScript unless the caller has something faster */
  constructor(sha256: Sha256 = sha256ByNoble) {
    this.#sha256 = sha256;
  }

  /**
   * Restores a saved frontier.
   *
   * @param roots the {@link roots} at that size: one hash for each 1 bit of `size`
   * @param sha256 how nodes are hashed; in plain JavaScript unless the caller has something faster
   * @throws TallystickError `not_a_frontier` when `roots` has another number of hashes
   */
  static restore(size: number, roots: readonly Uint8Array[], sha256?: Sha256): MerkleFrontier {
    if (roots.length !== [...size.toString(2)].filter((bit) => bit === "1").length) {
      throw new TallystickError({
        code: "not_a_frontier",
        message: `${roots.length} subtrees cannot make up a tree of ${size} leaves`,
      });
    }
    const frontier = new MerkleFrontier(sha256);
    frontier.#size = size;
    frontier.#roots = [...roots];
    return frontier;
  }

  /** Number of leaves. */
  get size(): number {
    return this.#size;
  }

  /** Roots of the complete subtrees, largest first. They and the size are enough to restore the frontier. */
  get roots(): readonly Uint8Array[] {
    return this.#roots;
  }

  /**
   * Adds a leaf by its hash.
   *
   * @param onComplete called with every subtree that the leaf completes, and first with the leaf itself. A subtree is
   * given as the root of 2^height leaves, number `index` from the left. A caller that keeps these roots can make
   * proofs later. The frontier alone cannot.
   */
  append(leafHash: Uint8Array, onComplete?: (height: number, index: number, hash: Uint8Array) => void): void {
    if (leafHash.length !== 32) {
      throw new TallystickError({
        code: "not_a_hash",
        message: `a leaf hash has 32 bytes, not ${leafHash.length}`,
      });
    }
    let hash = leafHash;
    let height = 0;
    let index = this.#size;
    onComplete?.(height, index, hash);
    // Each trailing 1 bit of the old size is a complete subtree. Together with the new leaf it becomes a
    // subtree of twice its size.
    while (index % 2 === 1) {
      hash = nodeHash(this.#roots.pop() as Uint8Array, hash, this.#sha256);
      index = (index - 1) / 2;
      height++;
      onComplete?.(height, index, hash);
    }
    this.#roots.push(hash);
    this.#size++;
  }

  /** The tree's root; {@link EMPTY_ROOT} without leaves. */
  root(): Uint8Array {
    let hash = this.#roots.at(-1);
    if (hash === undefined) return EMPTY_ROOT;
    for (let i = this.#roots.length - 2; i >= 0; i--) {
      hash = nodeHash(this.#roots[i] as Uint8Array, hash, this.#sha256);
    }
    return hash;
  }
}
