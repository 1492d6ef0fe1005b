import { keccak_256 } from "@noble/hashes/sha3.js";
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import type { Address } from "../address.ts";
import { type RecoverPublicKey, recoverByNoble } from "./recoverPublicKey.ts";
import { recoverSigner } from "./recoverSigner.ts";

const EIP191_HASH_PREFIX = utf8ToBytes("\x19Ethereum Signed Message:\n32");

/** keccak256 of text as UTF-8: the 32 bytes that a wallet signs as a message. */
export function textDigest(text: string): Uint8Array {
  return keccak_256(utf8ToBytes(text));
}

/** The EIP-191 hash of 32 bytes that are signed as a message: the input of `ecrecover`. */
export function messageHash(digest: Uint8Array): Uint8Array {
  return keccak_256(concatBytes(EIP191_HASH_PREFIX, digest));
}

/**
 * The wallet whose key signed the {@link textDigest} of a text; null if the signature is not valid.
 *
 * @param recover recovers the public key; plain JavaScript by default
 */
export function signerOfText(
  text: string,
  signature: string,
  recover: RecoverPublicKey = recoverByNoble,
): Address | null {
  return signerOfDigest(textDigest(text), signature, recover);
}

/** Like {@link signerOfText}, for a caller that has the text's digest already. */
export function signerOfDigest(
  digest: Uint8Array,
  signature: string,
  recover: RecoverPublicKey = recoverByNoble,
): Address | null {
  try {
    return recoverSigner(messageHash(digest), signature, undefined, recover);
  } catch {
    return null;
  }
}
