import { fromHex, type Hex } from "tallystick-protocol/hex";
import { keccak256 } from "viem";

/** The numbers of the three bits that a value sets (Yellow Paper §4.4.3). */
function bitsOf(value: Hex): number[] {
  const hash = keccak256(fromHex(value), "bytes");
  return [0, 2, 4].map((n) => (((hash[n] as number) << 8) | (hash[n + 1] as number)) & 2047);
}

/** Four bits of a bloom. Its digits are in order from the highest bit to the lowest. */
const digitAt = (logsBloom: string, n: number): number => Number.parseInt(logsBloom.charAt(2 + 511 - n), 16);

/**
 * Whether a block may contain a log. False is certain, true is not.
 *
 * @param logsBloom `0x` and 512 hex digits
 * @param values the address of the contract, or a topic, in hexadecimal
 */
export function mayHaveLogged(logsBloom: string, values: readonly Hex[]): boolean {
  return values.every((value) =>
    bitsOf(value).every((bit) => ((digitAt(logsBloom, bit >> 2) >> (bit & 3)) & 1) === 1),
  );
}

/**
 * Whether these values set all bits of a bloom. If they do, they are the values of all logs of the block, except
 * perhaps of missing logs that set no bit of their own.
 *
 * @param values the addresses and topics of logs, in hexadecimal
 */
export function explainsBloom(logsBloom: string, values: Iterable<Hex>): boolean {
  const digits = new Uint8Array(512);
  for (const value of new Set(values)) {
    for (const bit of bitsOf(value)) {
      digits[bit >> 2] = (digits[bit >> 2] as number) | (1 << (bit & 3));
    }
  }
  return digits.every((digit, n) => (digitAt(logsBloom, n) & ~digit) === 0);
}

/** Whether all bits are set. Some nodes give such a bloom for every block, and then it says nothing. */
export const isFull = (logsBloom: string): boolean => /^0xf+$/.test(logsBloom);
