import { keccak_256 } from "@noble/hashes/sha3.js";
import { hexToBytes } from "@noble/hashes/utils.js";
import type { Address } from "../address.ts";
import { InvalidInputError } from "../errors.ts";
import { fromHex, toHex } from "../hex.ts";
import { type RecoverPublicKey, recoverByNoble } from "./recoverPublicKey.ts";

/** Half the order of secp256k1, rounded down: the largest s that is not the malleable twin of another. */
const HALF_ORDER = hexToBytes("7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0");

/**
 * The wallet whose key signed 32 bytes.
 *
 * Takes 65 bytes with v = 27, 28, 0 or 1, in hex of either case, because wallets differ in these. It refuses the
 * malleable twin (high s). So a signature has several spellings: never take its text for its identity.
 *
 * @param hash what was signed, as `ecrecover` is given it
 * @param recover how the key is recovered: in plain JavaScript unless the caller has something faster
 * @throws InvalidInputError naming `field` when `signature` has another form or is not a valid signature
 */
export function recoverSigner(
  hash: Uint8Array,
  signature: string,
  field = "signature",
  recover: RecoverPublicKey = recoverByNoble,
): Address {
  const bytes = fromHex(signature, 65, field);
  const v = bytes[64] as number;
  const recovery = v >= 27 ? v - 27 : v;
  if (recovery > 1) {
    throw new InvalidInputError({ issues: [{ field, message: "must end in v = 27 or 28 (or 0 or 1)" }] });
  }
  try {
    if (isAbove(bytes.subarray(32, 64), HALF_ORDER)) {
      throw new RangeError("s is in the upper half of the curve order");
    }
    const publicKey = recover(hash, bytes.subarray(0, 64), recovery as 0 | 1);
    return toHex(keccak_256(publicKey.subarray(1)).subarray(12));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new InvalidInputError({
      issues: [{ field, message: `is not a secp256k1 signature: ${reason}` }],
      code: "invalid_signature",
      cause,
    });
  }
}

/** Whether a big-endian number of 32 bytes is above another. */
function isAbove(a: Uint8Array, b: Uint8Array): boolean {
  for (let i = 0; i < 32; i++) if (a[i] !== b[i]) return (a[i] as number) > (b[i] as number);
  return false;
}
