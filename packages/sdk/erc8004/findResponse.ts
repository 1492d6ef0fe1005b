import type { Address } from "tallystick-protocol/address";
import { reputationRegistryAbi } from "tallystick-protocol/erc8004/reputationRegistryAbi";
import type { Hex } from "tallystick-protocol/hex";
import { getAbiItem } from "viem";
import { ChainError } from "../errors.ts";
import type { ChainReader, ChainRegistries } from "./registries.ts";
import { searchLogs } from "./searchLogs.ts";

/** A response as the chain has it. */
export type PostedResponse = { uri: string; hash: Hex; transaction: Hex; block: bigint };

/**
 * The fragment in a response's URL for a verdict. It names the entry, so it is the same for every proof of
 * this entry.
 */
export function verdictMark(entryHash: string): string {
  return `#verdict=${entryHash}`;
}

/**
 * Finds a responder's response to one feedback. It searches back to the registry's first block. The search
 * ends when it has found as many responses as the contract counts.
 *
 * @param isIt whether a response is the wanted one
 * @throws ChainError `chain_inconsistent` when the RPC counts more responses than it gives logs
 */
export async function findResponse(
  client: ChainReader,
  { reputation, fromBlock }: Pick<ChainRegistries, "reputation" | "fromBlock">,
  parameters: { agentId: number; client: Address; index: number; responder: Address; block: bigint },
  isIt: (response: Pick<PostedResponse, "hash" | "uri">) => boolean,
): Promise<PostedResponse | undefined> {
  const { client: clientAddress, responder, block } = parameters;
  const [agentId, feedbackIndex] = [BigInt(parameters.agentId), BigInt(parameters.index)];
  const count = await client.readContract({
    address: reputation,
    abi: reputationRegistryAbi,
    functionName: "getResponseCount",
    args: [agentId, clientAddress, feedbackIndex, [responder]],
    blockNumber: block,
  });
  if (count === 0n) return undefined;
  const event = getAbiItem({ abi: reputationRegistryAbi, name: "ResponseAppended" });
  const args = { agentId, clientAddress, responder };
  const found = await searchLogs(
    { fromBlock, toBlock: block },
    async (window) =>
      (await client.getLogs({ address: reputation, event, args, strict: true, ...window }))
        .filter((log) => log.args.feedbackIndex === feedbackIndex)
        .map(({ args: it, transactionHash, blockNumber }) => ({
          uri: it.responseURI,
          hash: it.responseHash,
          transaction: transactionHash,
          block: blockNumber,
        })),
    (logs) => logs.some(isIt) || BigInt(logs.length) >= count,
  );
  const response = found.find(isIt);
  if (response !== undefined || BigInt(found.length) >= count) return response;
  throw new ChainError({
    code: "chain_inconsistent",
    message: `The RPC counts ${count} responses of ${responder} and gives logs of ${found.length}.`,
    hint: "Nothing was sent. Try again, or use another RPC.",
    neverSent: true,
  });
}
