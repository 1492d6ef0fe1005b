import { sha256 } from "@noble/hashes/sha2.js";

/** SHA-256 of bytes, or of text as UTF-8: 32 bytes. */
export type Sha256 = (data: Uint8Array | string) => Uint8Array;

const encoder = new TextEncoder();

/** Plain JavaScript, which runs everywhere. A server injects the function of its platform. */
export const sha256ByNoble: Sha256 = (data) => sha256(typeof data === "string" ? encoder.encode(data) : data);

/**
 * Uses the one-shot hash of a platform: `hash` of `node:crypto`, several times as fast as plain JavaScript.
 */
export function sha256By(
  hash: (algorithm: "sha256", data: Uint8Array | string, encoding: "binary") => string,
): Sha256 {
  return (data) => {
    // The digest comes as text with one character per byte, because making a Buffer costs as much as hashing a
    // kilobyte.
    const digest = hash("sha256", data, "binary");
    const bytes = new Uint8Array(32);
    for (let i = 0; i < 32; i++) bytes[i] = digest.charCodeAt(i);
    return bytes;
  };
}
