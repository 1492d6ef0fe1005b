import { fromHex, type Hex } from "tallystick-protocol/hex";
import { keccak256 } from "viem";

/**
 * Whether a block may contain a log. False is certain, true is not (Yellow Paper §4.4.3).
 *
 * @param logsBloom `0x` and 512 hex digits
 * @param values the address of the contract, or a topic, in hexadecimal
 */
export function mayHaveLogged(logsBloom: string, values: readonly Hex[]): boolean {
  return values.every((value) => {
    const hash = keccak256(fromHex(value), "bytes");
    return [0, 2, 4].every((n) => {
      const bit = (((hash[n] as number) << 8) | (hash[n + 1] as number)) & 2047;
      // The digits are in order from the highest bit to the lowest.
      const digit = Number.parseInt(logsBloom.charAt(2 + 511 - (bit >> 2)), 16);
      return ((digit >> (bit & 3)) & 1) === 1;
    });
  });
}
