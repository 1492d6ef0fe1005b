import { keccak_256 } from "@noble/hashes/sha3.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import canonicalize from "canonicalize";
import { InvalidInputError } from "../errors.ts";
import { type Hex, toHex } from "../hex.ts";

/**
 * keccak256 of a JSON value's RFC 8785 bytes. Two spellings of one value have the same hash, in every
 * language. Unlike the body of a record, the value may have floats.
 *
 * @throws InvalidInputError naming `field` for a value that is not JSON (NaN, a cycle, a function)
 */
export function jsonHash(value: unknown, field = "value"): Hex {
  try {
    const text = canonicalize(value);
    if (text === undefined) throw new TypeError("it is undefined");
    return toHex(keccak_256(utf8ToBytes(text)));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new InvalidInputError({ issues: [{ field, message: `must be JSON: ${reason}` }], cause });
  }
}

/** The hash of a hire's `params`: the `X-402-Capability-Hash` of SHP §7.1, and what the buyer's signature covers. */
export function paramsHash(params: unknown): Hex {
  return jsonHash(params, "params");
}
