import { keccak_256 } from "@noble/hashes/sha3.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import * as z from "zod";
import type { Address } from "./address.ts";
import { toHex } from "./hex.ts";

/**
 * An address in the spellings that older clients send: lower case, upper case, or the mixed case of EIP-55. In mixed
 * case the checksum must be right. The address becomes lower case.
 */
export const anyCaseAddressSchema = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, "must be 0x and 40 hex digits")
  .refine(hasNoWrongChecksum, "must have the upper and lower case of EIP-55: a character is mistyped")
  .transform((text) => text.toLowerCase() as Address);

function hasNoWrongChecksum(text: string): boolean {
  const digits = text.slice(2);
  const lower = digits.toLowerCase();
  if (digits === lower || digits === digits.toUpperCase()) return true;
  const hash = toHex(keccak_256(utf8ToBytes(lower))).slice(2);
  return [...lower].every(
    (digit, at) => digits[at] === (Number.parseInt(hash.charAt(at), 16) >= 8 ? digit.toUpperCase() : digit),
  );
}
