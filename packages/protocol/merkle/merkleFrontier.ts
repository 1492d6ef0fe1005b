import { TallystickError } from "../errors.ts";
import { type Sha256, sha256ByNoble } from "../sha256.ts";
import { EMPTY_ROOT, nodeHash } from "./hash.ts";

/**
 * The right edge of an RFC 6962 tree: appends and gives the root in O(log n) memory, without proofs.
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
   * @throws TallystickError `not_a_frontier` when there are more or fewer
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

  /** Adds a leaf by its hash. */
  append(leafHash: Uint8Array): void {
    if (leafHash.length !== 32) {
      throw new TallystickError({
        code: "not_a_hash",
        message: `a leaf hash has 32 bytes, not ${leafHash.length}`,
      });
    }
    let hash = leafHash;
    // Each trailing 1 bit of the old size is a complete subtree. Together with the new leaf it becomes a
    // subtree of twice its size.
    for (let index = this.#size; index % 2 === 1; index = (index - 1) / 2) {
      hash = nodeHash(this.#roots.pop() as Uint8Array, hash, this.#sha256);
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
