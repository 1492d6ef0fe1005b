import { sha256 } from "@noble/hashes/sha2.js";

/** Root of the tree without leaves: SHA-256 of nothing (RFC 6962 §2.1). */
export const EMPTY_ROOT: Uint8Array = sha256(new Uint8Array(0));

/** Hash of a leaf: SHA-256(0x00 ‖ bytes) (RFC 6962 §2.1). */
export function leafHash(bytes: Uint8Array): Uint8Array {
  return sha256.create().update(LEAF_PREFIX).update(bytes).digest();
}

const LEAF_PREFIX = Uint8Array.of(0);

/** Hash of an inner node: SHA-256(0x01 ‖ left ‖ right) over 32-byte hashes (RFC 6962 §2.1). */
export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  const input = new Uint8Array(65);
  input[0] = 1;
  input.set(left, 1);
  input.set(right, 33);
  return sha256(input);
}
