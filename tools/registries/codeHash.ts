import { fromHex, type Hex } from "tallystick-protocol/hex";
import { keccak256 } from "viem";

/** The first byte of the metadata: a CBOR map with few keys. */
const [LEAST_MAP, MOST_MAP] = [0xa0, 0xb7];

/**
 * The keccak-256 of compiled code without the metadata that Solidity adds at the end. The last two bytes are the length
 * of the metadata. The metadata names the sources and has no effect on the code's behaviour.
 */
export function codeHash(code: Hex): Hex {
  const bytes = fromHex(code);
  const length = ((bytes.at(-2) ?? 0) << 8) | (bytes.at(-1) ?? 0);
  const end = bytes.length - 2 - length;
  const first = bytes[end] ?? 0;
  const hasMetadata = end >= 0 && length > 0 && first >= LEAST_MAP && first <= MOST_MAP;
  return keccak256(hasMetadata ? bytes.subarray(0, end) : bytes);
}
