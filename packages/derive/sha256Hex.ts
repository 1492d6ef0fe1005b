import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";

/** The SHA-256, as 64 hex digits, of a text or of the bytes that hex digits stand for. */
export type Sha256Hex = (data: string, encoding: "utf8" | "hex") => string;

/** Plain JavaScript, which runs anywhere. */
export const sha256HexByNoble: Sha256Hex = (data, encoding) =>
  bytesToHex(sha256(encoding === "hex" ? hexToBytes(data) : utf8ToBytes(data)));
