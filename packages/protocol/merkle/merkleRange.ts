import { TallystickError } from "../errors.ts";
import { type Sha256, sha256ByNoble } from "../sha256.ts";
import { nodeHash } from "./hash.ts";
import { MerkleFrontier } from "./merkleFrontier.ts";

/** A complete subtree: the root of 2^height leaves, number `index` from the left among those of its height. */
export type Subtree = { height: number; index: number; hash: Uint8Array };

/** The leaves [from, to) of a tree as the complete subtrees that make them up, from left to right. */
export type RangeOfLeaves = { from: number; to: number; subtrees: readonly Subtree[] };

/**
 * The leaves [from, to) of an RFC 6962 tree, in O(log n) memory. Ranges that follow each other can be joined, so parts
 * of a tree can be hashed at the same time. Hashes are 32 bytes.
 */
export class MerkleRange implements RangeOfLeaves {
  readonly from: number;
  readonly #sha256: Sha256;
  readonly #subtrees: Subtree[] = [];
  #to: number;

  /**
   * @param from position of its first leaf
   * @param sha256 how nodes are hashed; in plain JavaScript unless the caller has something faster
   */
  constructor(from = 0, sha256: Sha256 = sha256ByNoble) {
    this.from = from;
    this.#to = from;
    this.#sha256 = sha256;
  }

  /** The position after its last leaf. */
  get to(): number {
    return this.#to;
  }

  get subtrees(): readonly Subtree[] {
    return this.#subtrees;
  }

  /** Adds the next leaf by its hash. */
  append(leafHash: Uint8Array): void {
    this.#push({ height: 0, index: this.#to++, hash: leafHash });
  }

  /**
   * Adds the leaves that follow.
   *
   * @throws TallystickError `not_a_range` when they do not begin where this range ends
   */
  join({ from, to, subtrees }: RangeOfLeaves): void {
    if (from !== this.#to) {
      throw new TallystickError({
        code: "not_a_range",
        message: `leaves from ${from} on do not follow those up to ${this.#to}`,
      });
    }
    for (const subtree of subtrees) this.#push(subtree);
    this.#to = to;
  }

  /**
   * The root of the tree of these leaves.
   *
   * @throws TallystickError `not_a_range` when the range does not begin with the tree's first leaf
   */
  root(): Uint8Array {
    if (this.from !== 0)
      throw new TallystickError({
        code: "not_a_range",
        message: `the leaves before ${this.from} are unknown`,
      });
    return MerkleFrontier.restore(
      this.#to,
      this.#subtrees.map(({ hash }) => hash),
      this.#sha256,
    ).root();
  }

  /** A left and a right sibling become the subtree above them. */
  #push(subtree: Subtree): void {
    let { height, index, hash } = subtree;
    for (let left = this.#subtrees.at(-1); index % 2 === 1; left = this.#subtrees.at(-1)) {
      // If the left sibling is not the last known subtree, it comes before the range, and its hash is unknown.
      if (left?.height !== height) break;
      this.#subtrees.pop();
      hash = nodeHash(left.hash, hash, this.#sha256);
      index = (index - 1) / 2;
      height++;
    }
    this.#subtrees.push({ height, index, hash });
  }
}
