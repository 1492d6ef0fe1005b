import { hexToBytes } from "@noble/hashes/utils.js";
import { toBareHex } from "tallystick-protocol/hex";
import { nodeHash } from "tallystick-protocol/merkle/hash";

/** The root of the complete subtree of 2^height leaves that is number `index` from the left; or a page of such roots. */
type Place = { height: number; index: number };

/**
 * Every fourth level of a ledger's Merkle tree is stored, beginning with the leaves. One row has 16 nodes of a level.
 * So there is about one row for 15 entries, and a proof reads only a few rows.
 */
const STEP = 4;
const PAGE = 2 ** STEP;

/** Digits of a hash. */
const DIGITS = 64;

/** The nodes at `height` from number 16 × `index` on: their hashes without separators, in bare hex. */
export type TreePage = Place & { hashes: string };

/** An addition to a page. `hashes` make a new page, or are appended to a stored one. */
export type GrownPage = TreePage & { isStored: boolean };

/** The key of a stored page. */
export function pageKey(ledger: string, { height, index }: Place): string {
  return `${ledger}/${height}/${index}`;
}

/** The additions of a growing tree to its pages. */
export class TreeGrowth {
  readonly #pages = new Map<string, GrownPage>();

  /** Takes a completed subtree. Subtrees of one height come from left to right. */
  readonly add = (height: number, index: number, hash: Uint8Array): void => {
    if (height % STEP !== 0) return;
    const place = { height, index: Math.floor(index / PAGE) };
    const key = keyOf(place);
    const page = this.#pages.get(key);
    if (page !== undefined) page.hashes += toBareHex(hash);
    else this.#pages.set(key, { ...place, hashes: toBareHex(hash), isStored: index % PAGE !== 0 });
  };

  /** The pages that have grown, leaves first. */
  get pages(): GrownPage[] {
    return [...this.#pages.values()];
  }
}

/**
 * Leaf `index` and its audit path in the tree of the first `size` leaves, from the leaf up (RFC 6962 §2.1.1),
 * from stored pages.
 *
 * @param index 0 ≤ index < size
 * @param read reads stored pages by place, in any order. It must return all requested pages
 * @throws when a node is missing, because then the tree is not stored up to that size
 */
export async function storedInclusionProof(
  index: number,
  size: number,
  read: (places: Place[]) => Promise<TreePage[]>,
): Promise<{ leafHash: Uint8Array; proof: Uint8Array[] }> {
  const leaf = { height: 0, index };
  const path = siblingsOf(index, size).map(([low, high]) => completeSubtrees(low, high));
  const wanted = new Map([leaf, ...path.flat()].map(pageOf).map((page) => [keyOf(page), page]));
  const pages = new Map((await read([...wanted.values()])).map((page) => [keyOf(page), page.hashes]));
  const hashOf = (place: Place) => perfectRoot(storedBelow(place, pages.get(keyOf(pageOf(place))) ?? ""));
  return {
    leafHash: hashOf(leaf),
    proof: path.map((subtrees) => subtrees.map(hashOf).reduceRight((right, left) => nodeHash(left, right))),
  };
}

/** The siblings of a leaf on the way to the root, as ranges of leaves, the nearest first. */
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

/**
 * The stored nodes just below a place, or the place itself if it is stored: how many they are, and the number of the
 * first. They are on one page.
 */
function below({ height, index }: Place): { first: number; count: number } {
  const count = 2 ** (height % STEP);
  return { first: index * count, count };
}

function pageOf(place: Place): Place {
  return { height: place.height - (place.height % STEP), index: Math.floor(below(place).first / PAGE) };
}

function storedBelow(place: Place, hashes: string): Uint8Array[] {
  const { first, count } = below(place);
  return Array.from({ length: count }, (_, n) => {
    const at = ((first + n) % PAGE) * DIGITS;
    const digits = hashes.slice(at, at + DIGITS);
    if (digits.length < DIGITS) {
      throw new Error(`Below height ${place.height}, index ${place.index}, node ${first + n} is not stored.`);
    }
    return hexToBytes(digits);
  });
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
