import { type Sha256, sha256ByNoble } from "../sha256.ts";

/** Root of the tree without leaves: SHA-256 of nothing (RFC 6962 §2.1). */
export const EMPTY_ROOT: Uint8Array = sha256ByNoble("");

/**
 * Hash of a leaf: SHA-256(0x00 ‖ bytes) (RFC 6962 §2.1).
 *
 * @param sha256 how it is hashed; in plain JavaScript unless the caller has something faster
 */
export function leafHash(bytes: Uint8Array, sha256: Sha256 = sha256ByNoble): Uint8Array {
  const input = new Uint8Array(1 + bytes.length);
  input.set(bytes, 1);
  return sha256(input);
}

/**
 * The input of {@link nodeHash}. It is one buffer for all nodes, because no other code runs while it is in
 * use.
 */
const nodeInput = new Uint8Array(65).fill(1, 0, 1);

/**
 * Hash of an inner node: SHA-256(0x01 ‖ left ‖ right) over 32-byte hashes (RFC 6962 §2.1).
 *
 * @param sha256 as in {@link leafHash}
 */
export function nodeHash(left: Uint8Array, right: Uint8Array, sha256: Sha256 = sha256ByNoble): Uint8Array {
  nodeInput.set(left, 1);
  nodeInput.set(right, 33);
  return sha256(nodeInput);
}
