import type { TransferEvent } from "tallystick-derive/events";
import { testUsdcAbi } from "tallystick-protocol/abi/testUsdcAbi";
import type { Address } from "tallystick-protocol/address";
import { parseEventLogs } from "viem";
import type { LocalChain } from "./localChain.ts";

/**
 * Every transfer of the token, in order and in the form of a node's event. It is read from the chain without a node.
 */
export async function transfersOnChain({ client, token }: LocalChain): Promise<TransferEvent[]> {
  const logs = await client.getLogs({ address: token, fromBlock: 0n, toBlock: "latest" });
  const placeOf = ({ blockNumber, logIndex }: { blockNumber: bigint; logIndex: number }, back = 0) =>
    `${blockNumber}/${logIndex - back}`;
  const authorizers = new Map(
    parseEventLogs({ abi: testUsdcAbi, eventName: "AuthorizationUsed", logs }).map((log) => [
      placeOf(log),
      `${log.transactionHash} ${log.args.authorizer}`,
    ]),
  );
  return Promise.all(
    parseEventLogs({ abi: testUsdcAbi, eventName: "Transfer", logs }).map(async (log) => ({
      block: Number(log.blockNumber),
      time: Number((await client.getBlock({ blockNumber: log.blockNumber })).timestamp),
      log: log.logIndex,
      kind: "transfer" as const,
      token,
      from: log.args.from.toLowerCase() as Address,
      to: log.args.to.toLowerCase() as Address,
      value: String(log.args.value),
      tx: log.transactionHash,
      authorized: authorizers.get(placeOf(log, 1)) === `${log.transactionHash} ${log.args.from}`,
    })),
  );
}
