import { ed25519 } from "@noble/curves/ed25519.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";

/** The public key of the key pair that signs a node's trust reports, and the key's name in the reports. */
export type ReportKey = { algorithm: "Ed25519"; public_key: string; signed_by: string };

/** The key of a node's trust reports, from its Ed25519 secret key (32 bytes). */
export function reportKeyOf(secretKey: Uint8Array): ReportKey {
  return namedKey(ed25519.getPublicKey(secretKey));
}

/** The key of a node's trust reports, from its Ed25519 public key (32 bytes). */
export function namedKey(publicKey: Uint8Array): ReportKey {
  return {
    algorithm: "Ed25519",
    public_key: bytesToHex(publicKey),
    signed_by: `sha256:${bytesToHex(sha256(publicKey))}`,
  };
}
