import { bytesEqual } from "../hex.ts";
import { nodeHash } from "./hash.ts";

/**
 * The most nodes that a proof may have. A tree has at most 2^63 leaves. An inclusion proof in it has at most 63 nodes,
 * and a consistency proof can have one more.
 */
export const MAX_PROOF_NODES = 64;
const MAX_SIZE = 1n << 63n;

/**
 * Whether these are possible sizes of trees: whole, from 0 to 2^63 as a `bigint`, or from 0 to the largest safe integer
 * as a `number`.
 */
export function areSizes(...sizes: (number | bigint)[]): boolean {
  return sizes.every((size) =>
    typeof size === "bigint" ? size >= 0n && size <= MAX_SIZE : Number.isSafeInteger(size) && size >= 0,
  );
}

/** Whether every hash has 32 bytes. */
export function areHashes(...hashes: Uint8Array[]): boolean {
  return hashes.every((hash) => hash.length === 32);
}

export type VerifyInclusionParameters = {
  leafHash: Uint8Array;
  index: number | bigint;
  size: number | bigint;
  proof: Uint8Array[];
  root: Uint8Array;
};

/**
 * Whether `proof` shows that the tree of `size` leaves with this `root` has `leafHash` at `index`
 * (RFC 9162 §2.1.3.2). Never throws. A proof of the wrong form proves nothing.
 */
export function verifyInclusion(parameters: VerifyInclusionParameters): boolean {
  const { leafHash, index, size, proof, root } = parameters;
  if (!areSizes(index, size) || !areHashes(leafHash, root, ...proof) || proof.length > MAX_PROOF_NODES)
    return false;
  let fn = BigInt(index);
  if (fn >= BigInt(size)) return false;
  let sn = BigInt(size) - 1n;
  let hash = leafHash;
  for (const node of proof) {
    if (sn === 0n) return false;
    if ((fn & 1n) === 1n || fn === sn) {
      hash = nodeHash(node, hash);
      while ((fn & 1n) === 0n && fn !== 0n) {
        fn >>= 1n;
        sn >>= 1n;
      }
    } else {
      hash = nodeHash(hash, node);
    }
    fn >>= 1n;
    sn >>= 1n;
  }
  return sn === 0n && bytesEqual(hash, root);
}
