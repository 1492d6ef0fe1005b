import { secp256k1 } from "@noble/curves/secp256k1.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import type { Address } from "../address.ts";
import { fromHex, type Hex, toHex } from "../hex.ts";

/**
 * Signs 32 bytes with a wallet's private key: 65 bytes r ‖ s ‖ v with low s and v = 27 or 28. The same hash and key
 * always give the same signature (RFC 6979).
 *
 * @throws InvalidInputError naming `privateKey` when it is not 0x and 32 bytes
 */
export function signHash(hash: Uint8Array, privateKey: Hex): Hex {
  const key = fromHex(privateKey, 32, "privateKey");
  const signed = secp256k1.sign(hash, key, { prehash: false, format: "recovered" });
  return toHex(Uint8Array.of(...signed.subarray(1), 27 + (signed[0] as number)));
}

/** The wallet of a private key. */
export function addressOf(privateKey: Hex): Address {
  const publicKey = secp256k1.getPublicKey(fromHex(privateKey, 32, "privateKey"), false);
  return toHex(keccak_256(publicKey.subarray(1)).subarray(12));
}
