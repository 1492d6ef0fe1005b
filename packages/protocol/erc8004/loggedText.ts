import { keccak_256 } from "@noble/hashes/sha3.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { bytesEqual, type Hex, toHex } from "../hex.ts";

/** The most bytes that are kept of a stranger's text in a contract's event. */
export const MAX_TEXT_BYTES = 256;

/**
 * A stranger's text as the event log has it: the whole text, or its beginning with the number of its bytes
 * and their keccak-256. The beginning has at most 256 UTF-16 units. U+FFFD replaces bytes that are not UTF-8,
 * and every control character.
 */
export type LoggedText = string | { text: string; bytes: number; hash: Hex };

/** A stranger's bytes: up to 256 bytes as hex, otherwise their number and their keccak-256. */
export type LoggedBytes = Hex | { bytes: number; hash: Hex };

/** @param raw the bytes in the event */
export function loggedText(raw: Uint8Array): LoggedText {
  const kept = raw.subarray(0, endOfText(raw));
  // A byte order mark is a character like any other.
  const decoded = new TextDecoder("utf-8", { ignoreBOM: true }).decode(kept);
  const text = decoded.replace(/\p{Cc}/gu, "\ufffd");
  if (bytesEqual(utf8ToBytes(text), raw)) return text;
  return { text, bytes: raw.length, hash: toHex(keccak_256(raw)) };
}

/** @param raw the bytes in the event */
export function loggedBytes(raw: Uint8Array): LoggedBytes {
  if (raw.length <= MAX_TEXT_BYTES) return toHex(raw);
  return { bytes: raw.length, hash: toHex(keccak_256(raw)) };
}

/**
 * Where the kept beginning ends. It never ends inside a character: after its first byte a character has at
 * most three more.
 */
function endOfText(raw: Uint8Array): number {
  // Behind the end of a shorter text, no byte continues a character.
  for (let end = MAX_TEXT_BYTES; end > MAX_TEXT_BYTES - 4; end--) {
    if (((raw[end] ?? 0) & 0xc0) !== 0x80) return end;
  }
  return MAX_TEXT_BYTES;
}
