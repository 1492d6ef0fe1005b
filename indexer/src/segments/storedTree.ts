import { fromHex, type Hex } from "../../../protocol/hex.ts";
import { nodeHash } from "../../../protocol/merkle/hash.ts";

/** The root of a complete subtree of 2^height leaves, number `index` from the left. */
export type TreeNode = { height: number; index: number; hash: Hex };
type Place = { height: number; index: number };

/**
 * Of a ledger's Merkle tree every fourth level is kept, the leaves among them: 16 rows for 15 entries instead of 30, and a
 * proof still reads less than four rows for each of its hashes.
 */
const STEP = 4;

export function isStoredHeight(height: number): boolean {
  return height % STEP === 0;
}

/** The key of a stored node. */
export function nodeKey(ledger: string, height: number, index: number): string {
  return `${ledger}/${height}/${index}`;
}

/**
 * The audit path of leaf `index` in the tree of the first `size` leaves, from the leaf up (RFC 6962 §2.1.1), from stored nodes.
 *
 * @param index 0 ≤ index < size
 * @param read hashes of stored nodes, by place, in any order; all that are asked for are needed
 * @throws when a node is missing: then the tree is not stored up to that size
 */
export async function storedInclusionProof(
  index: number,
  size: number,
  read: (places: Place[]) => Promise<TreeNode[]>,
): Promise<Uint8Array[]> {
  const path = siblingsOf(index, size).map(([low, high]) => completeSubtrees(low, high));
  const wanted = path.flat().flatMap(storedBelow);
  const found = new Map((await read(wanted)).map((node) => [keyOf(node), fromHex(node.hash, 32)]));
  const hashOf = (place: Place): Uint8Array => {
    const below = storedBelow(place).map((stored) => found.get(keyOf(stored)) ?? missing(stored));
    return perfectRoot(below);
  };
  return path.map((subtrees) => subtrees.map(hashOf).reduceRight((right, left) => nodeHash(left, right)));
}

/** What has to be hashed with a leaf, and so on up to the root: ranges of leaves, the nearest first. */
function siblingsOf(index: number, size: number): [low: number, high: number][] {
  const ranges: [number, number][] = [];
  let [low, high] = [0, size];
  while (high - low > 1) {
    let half = 1;
    while (half * 2 < high - low) half *= 2;
    const middle = low + half;
    if (index < middle) {
      ranges.push([middle, high]);
      high = middle;
    } else {
      ranges.push([low, middle]);
      low = middle;
    }
  }
  return ranges.reverse();
}

/** The complete subtrees that make up the leaves [low, high), from the left. */
function completeSubtrees(low: number, high: number): Place[] {
  const places: Place[] = [];
  for (let at = low; at < high; ) {
    let [height, width] = [0, 1];
    while (at + width * 2 <= high && at % (width * 2) === 0) {
      width *= 2;
      height++;
    }
    places.push({ height, index: at / width });
    at += width;
  }
  return places;
}

/** The stored nodes just below a place, or the place itself. */
function storedBelow({ height, index }: Place): Place[] {
  const below = 2 ** (height % STEP);
  return Array.from({ length: below }, (_, n) => ({
    height: height - (height % STEP),
    index: index * below + n,
  }));
}

/** The root over 2^n hashes. */
function perfectRoot(hashes: Uint8Array[]): Uint8Array {
  const [first, second] = hashes;
  if (first === undefined) throw new Error("A tree has a leaf.");
  if (second === undefined) return first;
  const middle = hashes.length / 2;
  return nodeHash(perfectRoot(hashes.slice(0, middle)), perfectRoot(hashes.slice(middle)));
}

function keyOf({ height, index }: Place): string {
  return `${height}/${index}`;
}

function missing({ height, index }: Place): never {
  throw new Error(`The node at height ${height}, index ${index} is not stored.`);
}
