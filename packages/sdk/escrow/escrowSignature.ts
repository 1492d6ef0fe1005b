import type { Address } from "tallystick-protocol/address";
import { InvalidInputError } from "tallystick-protocol/errors";
import type { Hex } from "tallystick-protocol/hex";
import { recoverSigner } from "tallystick-protocol/signatures/recoverSigner";
import { hexToBigInt, hexToBytes, hexToNumber, size, sliceHex } from "viem";

/** The last 32 bytes of a wrapped signature (ERC-6492). */
const ERC6492_MAGIC: Hex = `0x${"6492".repeat(16)}`;

/**
 * The signature inside an ERC-6492 wrapper, or the signature itself if there is no well-formed wrapper. The
 * contract reads it in the same way. The wrapper is dropped because nobody reads it, and each byte costs gas.
 */
export function unwrapSignature(signature: Hex): Hex {
  const length = size(signature);
  if (length < 0x80 || sliceHex(signature, length - 0x20) !== ERC6492_MAGIC) return signature;
  const bodyLength = BigInt(length - 0x20);
  const offset = hexToBigInt(sliceHex(signature, 0x40, 0x60));
  if (offset > bodyLength - 0x20n) return signature;
  const start = Number(offset) + 0x20;
  const innerLength = hexToBigInt(sliceHex(signature, start - 0x20, start));
  if (innerLength > bodyLength - BigInt(start)) return signature;
  // viem's sliceHex refuses an empty piece.
  return innerLength === 0n ? "0x" : sliceHex(signature, start, start + Number(innerLength));
}

/**
 * Whether the signer's own key made a signature. An EIP-7702 account has such a key too. The contract then
 * runs no code of the signer, so the signer cannot change the answer later, and the cost is known.
 *
 * @param digest what was signed (EIP-712)
 * @param signature unwrapped
 */
export function isByKey({
  signer,
  digest,
  signature,
}: {
  signer: Address;
  digest: Hex;
  signature: Hex;
}): boolean {
  // The contract accepts v = 27 or 28 only. For any other v it would ask the signer's code.
  if (size(signature) !== 65 || hexToNumber(sliceHex(signature, 64)) < 27) return false;
  try {
    return recoverSigner(hexToBytes(digest), signature) === signer;
  } catch (error) {
    if (error instanceof InvalidInputError) return false;
    throw error;
  }
}
