import type { Address } from "tallystick-protocol/address";
import { type Hex, isHex } from "tallystick-protocol/hex";
import {
  BadAnswerError,
  LogsMissingError,
  OrphanedBlockError,
  ProofMissingError,
  SourceBehindError,
} from "../errors.ts";
import type { BlockAt } from "../logPort.ts";
import { AUTHORIZATION_USED, TRANSFER } from "../tokenLogs.ts";
import { type AllLogs, logsOf, type ReadAllLogs } from "./allLogs.ts";
import { explainsBloom, isFull, mayHaveLogged } from "./bloom.ts";
import { faultError, headerFrom, type RpcContext } from "./context.ts";
import type { RpcCall, RpcReply } from "./jsonRpc.ts";
import { headerOf, type RawHeader, type RawLog } from "./parse.ts";
import { headerCall } from "./readHeaders.ts";
import { isRound } from "./readRange.ts";
import { refusalOf } from "./refusals.ts";

/** What the read of several blocks shares. */
export type BlockReading = {
  /** Blocks that had one empty answer without a proof. */
  doubted: Set<Hex>;
  allLogs: ReadAllLogs;
  signal: AbortSignal;
};

/** The calls whose replies {@link readBlock} needs. */
export const blockCalls = (token: Address, { hash }: BlockAt): [RpcCall, RpcCall] => [
  { method: "eth_getBlockByHash", params: [hash, false] },
  {
    method: "eth_getLogs",
    params: [{ address: token, topics: [[TRANSFER, AUTHORIZATION_USED]], blockHash: hash }],
  },
];

/**
 * All logs of the token in a block.
 *
 * @throws LogsMissingError when the node does not give the logs that the header shows; SourceBehindError or
 * OrphanedBlockError when it does not have the block
 */
export async function readBlock(
  context: RpcContext,
  at: BlockAt,
  [head, reply]: readonly [RpcReply, RpcReply],
  reading: BlockReading,
): Promise<RawLog[]> {
  const { source, token } = context;
  const isUnknown = head.fault !== undefined && refusalOf(head.fault) === "unknownBlock";
  if (isUnknown || head.result === null) throw await absent(context, at, reading.signal);
  if (reply.fault && refusalOf(reply.fault) === "unknownBlock") {
    throw await absent(context, at, reading.signal);
  }
  if (head.fault) throw faultError(context, head.fault, at.block);
  const header: RawHeader = headerOf(head.result, { source, field: "eth_getBlockByHash" });
  if (header.hash !== at.hash || header.block !== at.block) {
    throw new BadAnswerError(source, "eth_getBlockByHash.hash", `must be ${at.hash} of block ${at.block}`);
  }
  if (reply.fault) throw faultError(context, reply.fault, at.block);
  const logs = logsOf(context, reply, at);
  const other = logs.find((log) => !isOf(token, log));
  if (other !== undefined) {
    throw new BadAnswerError(source, other.at.field, "is of an address or event that was not asked for");
  }
  if (logs.length > 0 || !mayHaveLogs(header, token)) return logs;
  return readWhole(context, header, reading);
}

/**
 * The token's logs of a block. The first answer had none, although the block's header allows some. A node gives such an
 * answer while it has the header of a new block, but not yet all its logs. So this reads the logs of all contracts,
 * which must explain the bloom of the header. If no such proof is possible, a second empty answer after a pause counts.
 *
 * @throws ProofMissingError when nothing gives the logs of all contracts, and no answer says that they are refused
 */
async function readWhole(
  context: RpcContext,
  at: RawHeader,
  { doubted, allLogs, signal }: BlockReading,
): Promise<RawLog[]> {
  const { logsBloom } = at;
  const isTelling = logsBloom !== null && !isFull(logsBloom);
  const { fault, logs = [] }: AllLogs = await allLogs(at, signal).catch((error: unknown) => {
    // A missing or full bloom proves nothing, whatever the logs are.
    if (!isTelling && error instanceof ProofMissingError) return { logs: [] };
    throw error;
  });
  const refusal = fault && refusalOf(fault);
  if (refusal === "unknownBlock") throw await absent(context, at, signal);
  // Any other refusal may mean that the provider does not give the logs of all contracts.
  if (fault && (refusal === "behind" || refusal === "history")) throw faultError(context, fault, at.block);
  const own = logs.filter((log) => isOf(context.token, log));
  if (isTelling && explainsBloom(logsBloom, logs.flatMap(valuesOf))) return own;
  // A list that may be cut at a round number proves nothing, now or later.
  const isWhole = fault === undefined && !isRound(logs.length);
  if (!(isWhole && isTelling) && own.length === 0 && doubted.has(at.hash)) return [];
  doubted.add(at.hash);
  throw new LogsMissingError(context.source, at.block);
}

/**
 * The reason why a node has no block of this hash: its block of this number has another hash, or the node
 * is behind.
 */
async function absent(context: RpcContext, { block, hash }: BlockAt, signal: AbortSignal): Promise<Error> {
  const { rpc, source } = context;
  const [reply] = await rpc.send([headerCall(block)] as const, signal);
  const isOther = !reply.fault && reply.result !== null && headerFrom(context, reply, block).hash !== hash;
  return isOther ? new OrphanedBlockError(source, block, hash) : new SourceBehindError(source, block);
}

/** Whether a log is one of those that are asked for. */
const isOf = (token: Address, { address, topics }: RawLog): boolean =>
  address === token && (topics[0] === TRANSFER || topics[0] === AUTHORIZATION_USED);

/** The values of a log that set bits in the bloom of its block. */
function valuesOf({ address, topics, at }: RawLog): Hex[] {
  if (isHex(address, 20)) return [address, ...topics];
  throw new BadAnswerError(at.source, `${at.field}.address`, "must be 20 bytes in hexadecimal");
}

/** Whether a header allows transfers of the token. A header without a bloom does. */
function mayHaveLogs({ logsBloom }: RawHeader, token: Address): boolean {
  return logsBloom === null || mayHaveLogged(logsBloom, [token, TRANSFER]);
}
