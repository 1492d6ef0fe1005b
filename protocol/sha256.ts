import { sha256 } from "@noble/hashes/sha2.js";

/** SHA-256 of bytes, or of text as UTF-8: 32 bytes. */
export type Sha256 = (data: Uint8Array | string) => Uint8Array;

const encoder = new TextEncoder();

/** In plain JavaScript: runs everywhere. A server injects its platform's own. */
export const sha256ByNoble: Sha256 = (data) => sha256(typeof data === "string" ? encoder.encode(data) : data);
