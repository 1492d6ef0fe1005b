import { secp256k1 } from "@noble/curves/secp256k1.js";
import type { KnownSigners } from "./knownSigners.ts";

/** How the public key behind an ECDSA signature on secp256k1 is recovered. */
export type RecoverPublicKey = {
  /**
   * @param hash the 32 bytes that were signed
   * @param signature r ‖ s, 64 bytes
   * @param recovery which of the two candidate points it is
   * @returns the key uncompressed, 65 bytes beginning with 0x04
   * @throws when no key made this signature
   */
  (hash: Uint8Array, signature: Uint8Array, recovery: 0 | 1): Uint8Array;
  /** The signers that were recovered before, for callers that ask about the same signature twice. */
  readonly known?: KnownSigners;
};

/** Recovery in plain JavaScript. It runs everywhere, and takes some milliseconds. Servers inject a faster function. */
export const recoverByNoble: RecoverPublicKey = (hash, signature, recovery) =>
  secp256k1.Signature.fromBytes(signature, "compact")
    .addRecoveryBit(recovery)
    .recoverPublicKey(hash)
    .toBytes(false);
