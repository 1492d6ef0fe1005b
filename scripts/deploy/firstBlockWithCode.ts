import type { Address } from "tallystick-protocol/address";
import type { PublicClient } from "viem";

/**
 * Finds by bisection the last block in which none of the contracts had code. If the node has no old states,
 * the result is 0, which is never too late.
 */
export async function firstBlockWithCode(
  client: Pick<PublicClient, "getBlockNumber" | "getCode">,
  contracts: readonly Address[],
): Promise<number> {
  const anyThere = async (block: bigint) => {
    const codes = await Promise.all(
      contracts.map((address) => client.getCode({ address, blockNumber: block })),
    );
    return codes.some((code) => code !== undefined && code !== "0x");
  };
  try {
    let [without, withCode] = [-1n, await client.getBlockNumber()];
    while (withCode - without > 1n) {
      const middle = (without + withCode) / 2n;
      if (await anyThere(middle)) withCode = middle;
      else without = middle;
    }
    return Math.max(0, Number(without));
  } catch {
    return 0;
  }
}
