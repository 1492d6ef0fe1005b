import { keccak_256 } from "@noble/hashes/sha3.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { bytesEqual, type Hex, toHex } from "../hex.ts";

/** What a stranger wrote into a contract's event is kept up to this many bytes. */
export const MAX_TEXT_BYTES = 256;

/**
 * A stranger's text as the event log has it: itself, or how it begins, with how many bytes it has and their keccak-256. The beginning has
 * at most 256 UTF-16 units; what is no UTF-8 in it, and every control character, is U+FFFD.
 */
export type LoggedText = string | { text: string; bytes: number; hash: Hex };

/** A stranger's bytes: as hex up to 256 of them, else how many they are and their keccak-256. */
export type LoggedBytes = Hex | { bytes: number; hash: Hex };

/** @param raw the bytes in the event */
export function loggedText(raw: Uint8Array): LoggedText {
  const kept = raw.subarray(0, endOfText(raw));
  // The mark of a byte order is a character as any other.
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

/** Where the beginning ends that is kept: never inside a character, which has at most three bytes that go on. */
function endOfText(raw: Uint8Array): number {
  if (raw.length <= MAX_TEXT_BYTES) return raw.length;
  for (let end = MAX_TEXT_BYTES; end > MAX_TEXT_BYTES - 4; end--) {
    if (((raw[end] ?? 0) & 0xc0) !== 0x80) return end;
  }
  return MAX_TEXT_BYTES;
}
