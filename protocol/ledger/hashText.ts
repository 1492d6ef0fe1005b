import { sha256 } from "@noble/hashes/sha2.js";

/** SHA-256 of ASCII text, 32 bytes. */
export type HashText = (text: string) => Uint8Array;

const encoder = new TextEncoder();

/** In plain JavaScript: runs everywhere. A server injects its platform's own. */
export const hashTextByNoble: HashText = (text) => sha256(encoder.encode(text));
