import { bytesEqual } from "../hex.ts";
import { EMPTY_ROOT, nodeHash } from "./hash.ts";
import { areHashes, areSizes, MAX_PROOF_NODES } from "./verifyInclusion.ts";

export type VerifyConsistencyParameters = {
  from: number | bigint;
  to: number | bigint;
  fromRoot: Uint8Array;
  toRoot: Uint8Array;
  proof: Uint8Array[];
};

/**
 * Whether `proof` shows that the tree of `from` leaves is the beginning of the tree of `to` leaves (RFC 9162 §2.1.4.2).
 * The empty tree, with the root {@link EMPTY_ROOT}, is the beginning of every tree, with an empty proof. Equal sizes
 * need an empty proof and equal roots. Never throws.
 */
export function verifyConsistency(parameters: VerifyConsistencyParameters): boolean {
  const { from, to, fromRoot, toRoot, proof } = parameters;
  if (!areSizes(from, to) || !areHashes(fromRoot, toRoot, ...proof) || proof.length > MAX_PROOF_NODES)
    return false;
  const first = BigInt(from);
  const second = BigInt(to);
  if (first > second) return false;
  if (first === 0n && !bytesEqual(fromRoot, EMPTY_ROOT)) return false;
  if (first === second) return proof.length === 0 && bytesEqual(fromRoot, toRoot);
  if (first === 0n) return proof.length === 0;

  // A power of two is a complete subtree: its root is the first node of the path, and the verifier knows it.
  const path = (first & (first - 1n)) === 0n ? [fromRoot, ...proof] : proof;
  const start = path[0];
  if (start === undefined) return false;
  let fn = first - 1n;
  let sn = second - 1n;
  while ((fn & 1n) === 1n) {
    fn >>= 1n;
    sn >>= 1n;
  }
  let fr = start;
  let sr = start;
  for (const node of path.slice(1)) {
    if (sn === 0n) return false;
    if ((fn & 1n) === 1n || fn === sn) {
      fr = nodeHash(node, fr);
      sr = nodeHash(node, sr);
      while ((fn & 1n) === 0n && fn !== 0n) {
        fn >>= 1n;
        sn >>= 1n;
      }
    } else {
      sr = nodeHash(sr, node);
    }
    fn >>= 1n;
    sn >>= 1n;
  }
  return sn === 0n && bytesEqual(fr, fromRoot) && bytesEqual(sr, toRoot);
}
