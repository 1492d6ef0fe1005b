import type { Address } from "tallystick-protocol/address";
import { numberToHex, type PublicClient } from "viem";

/**
 * Whether an address has code at a block. viem's own function takes an answer without a result for "no code", and a node that
 * is overloaded or lacks the state may give such an answer.
 *
 * @param block undefined: the newest
 * @throws when the chain's node gives no answer of use
 */
export async function hasCode(
  client: Pick<PublicClient, "request">,
  address: Address,
  block?: bigint,
): Promise<boolean> {
  const at = block === undefined ? "latest" : numberToHex(block);
  const code: unknown = await client.request({ method: "eth_getCode", params: [address, at] });
  if (typeof code !== "string" || !/^0x([0-9a-f]{2})*$/i.test(code))
    throw new Error("the answer to eth_getCode is no code");
  return code !== "0x";
}
