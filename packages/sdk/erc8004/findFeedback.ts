import type { Address } from "tallystick-protocol/address";
import { reputationRegistryAbi } from "tallystick-protocol/erc8004/reputationRegistryAbi";
import type { Hex } from "tallystick-protocol/hex";
import { getAbiItem } from "viem";
import { ChainError } from "../errors.ts";
import type { ChainReader, ChainRegistries } from "./registries.ts";
import { searchLogs } from "./searchLogs.ts";

/** A feedback as the chain has it. */
export type PostedFeedback = {
  index: bigint;
  value: bigint;
  valueDecimals: number;
  tag1: string;
  tag2: string;
  uri: string;
  hash: Hex;
  transaction: Hex;
  block: bigint;
};

/**
 * The fragment (`#…`) that a feedback's URL has for a receipt. It names the receipt, so it stays the same when a
 * newer file has newer proofs.
 */
export function receiptFragment(receipt: string): string {
  return `#receipt=${receipt}`;
}

/** The receipt that a feedback's URL names by its fragment, undefined when it names none. */
export function receiptIn(uri: string): string | undefined {
  return /#receipt=([0-9a-f]{64})$/.exec(uri)?.[1];
}

/**
 * Finds a client's feedback for an agent.
 *
 * @param parameters.block the search ends here: feedback that comes later is not found
 * @param parameters.fromBlock where it begins: the block of the payment, because there is no feedback for a hire
 * before its payment
 * @param isIt whether a feedback is the wanted one; the latest that fits is returned
 * @throws ChainError `chain_inconsistent` when the RPC counts more feedback than it gives logs
 */
export async function findFeedback(
  client: ChainReader,
  registries: Pick<ChainRegistries, "reputation" | "fromBlock">,
  parameters: { agentId: number; client: Address; block: bigint; fromBlock: bigint; signal?: AbortSignal },
  isIt: (feedback: PostedFeedback) => boolean,
): Promise<PostedFeedback | undefined> {
  const { block, signal } = parameters;
  const { reputation } = registries;
  const agentId = BigInt(parameters.agentId);
  const args = { agentId, clientAddress: parameters.client };
  const countAt = (blockNumber: bigint) =>
    client.readContract({
      ...{ address: reputation, abi: reputationRegistryAbi, functionName: "getLastIndex", blockNumber },
      args: [agentId, parameters.client],
    });
  const count = await countAt(block);
  if (count === 0n) return undefined;
  // The number of feedbacks before the first block of the search. If the node has no such old state, the whole
  // range is searched.
  const isLater = parameters.fromBlock > registries.fromBlock;
  const before = isLater ? await countAt(parameters.fromBlock - 1n).catch(() => undefined) : undefined;
  const fromBlock = before === undefined ? registries.fromBlock : parameters.fromBlock;
  const wanted = count - (before ?? 0n);
  const event = getAbiItem({ abi: reputationRegistryAbi, name: "NewFeedback" });
  const found = await searchLogs(
    { fromBlock, toBlock: block, signal },
    async (window) =>
      (await client.getLogs({ address: reputation, event, args, strict: true, ...window })).map(
        ({ args: it, transactionHash, blockNumber }): PostedFeedback => ({
          index: it.feedbackIndex,
          value: it.value,
          valueDecimals: it.valueDecimals,
          tag1: it.tag1,
          tag2: it.tag2,
          uri: it.feedbackURI,
          hash: it.feedbackHash,
          transaction: transactionHash,
          block: blockNumber,
        }),
      ),
    (logs) => logs.some(isIt) || BigInt(logs.length) >= wanted,
  );
  const feedback = found.find(isIt);
  if (feedback !== undefined || BigInt(found.length) >= wanted) return feedback;
  throw new ChainError({
    code: "chain_inconsistent",
    message: `The RPC counts ${wanted} feedbacks of ${parameters.client} for agent ${agentId} and gives logs of ${found.length}.`,
    hint: "Nothing was sent. Try again, or use another RPC.",
    neverSent: true,
  });
}
