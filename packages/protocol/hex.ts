import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { InvalidInputError } from "./errors.ts";

/** Bytes written as lower-case hexadecimal behind `0x`. */
export type Hex = `0x${string}`;

/** 32 zero bytes: the tx_hash of a free receipt (SHP §11) and "no value" in many places. */
export const ZERO_HASH: Hex = `0x${"0".repeat(64)}`;

/** Whether `value` is `0x` and an even number of hex digits (of `size` bytes, when given). */
export function isHex(value: unknown, size?: number): value is Hex {
  if (typeof value !== "string" || !/^0x(?:[0-9a-fA-F]{2})*$/.test(value)) return false;
  return size === undefined || value.length === 2 + 2 * size;
}

/** Bytes to lower-case `0x` hex. */
export function toHex(bytes: Uint8Array): Hex {
  return `0x${bytesToHex(bytes)}`;
}

/**
 * Converts `0x` hex, in upper or lower case, to bytes.
 *
 * @param size the number of bytes it must have, if that is fixed
 * @param field the input's name in the error
 * @throws InvalidInputError naming `field`
 */
export function fromHex(hex: string, size?: number, field = "hex"): Uint8Array {
  if (!isHex(hex, size)) {
    const want = size === undefined ? "0x and an even number of hex digits" : `0x and ${2 * size} hex digits`;
    throw new InvalidInputError({ issues: [{ field, message: `must be ${want}` }] });
  }
  return hexToBytes(hex.slice(2));
}

/** Converts bytes to lower-case hex without `0x`, as the ledger writes hashes. */
export function toBareHex(bytes: Uint8Array): string {
  return bytesToHex(bytes);
}

/** Whether two byte strings are equal. The time depends on the bytes, so use it for public hashes only. */
export function bytesEqual(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
