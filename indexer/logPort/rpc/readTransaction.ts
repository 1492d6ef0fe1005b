import type { Hex } from "tallystick-protocol/hex";
import { BadAnswerError, HistoryMissingError } from "../errors.ts";
import type { TokenTransfer, TransactionLogs, UsedAuthorization } from "../logPort.ts";
import { AUTHORIZATION_USED, TRANSFER, word } from "../tokenLogs.ts";
import { receiptCall } from "./allLogs.ts";
import {
  faultError,
  headerFrom,
  type RpcContext,
  retryWhileStale,
  together,
  UnclearFault,
} from "./context.ts";
import type { HistoryCheck } from "./historyCheck.ts";
import type { RpcReply } from "./jsonRpc.ts";
import { itemsOf, membersOf, quantity, rawLog, tokenLog } from "./parse.ts";
import { headerCall } from "./readHeaders.ts";

/**
 * The token's logs in one transaction. An answer that the transaction does not exist is trusted only if the
 * node has block `asOf` and knows the oldest transaction of the token.
 */
export function readTransaction(
  context: RpcContext,
  history: HistoryCheck,
  hash: Hex,
  asOf: number,
  signal: AbortSignal,
): Promise<TransactionLogs | null> {
  const { source, firstBlock } = context;
  return retryWhileStale(context, "eth_getTransactionReceipt", signal, async () => {
    const oldest = history.transaction();
    const calls = [receiptCall(hash), headerCall(asOf), ...(oldest === null ? [] : [receiptCall(oldest)])];
    const replies = await together(context, calls, signal);
    const [receipt, head, known] = replies as [RpcReply, RpcReply, RpcReply?];
    if (receipt.fault) throw faultError(context, receipt.fault, asOf);
    headerFrom(context, head, asOf);
    if (receipt.result !== null) {
      const logs = receiptOf(receipt.result, context, hash);
      return logs.block <= asOf ? logs : null;
    }
    if (known?.fault) throw faultError(context, known.fault, asOf);
    if (known !== undefined && known.result === null) {
      throw new HistoryMissingError(source, firstBlock, `it does not know transaction ${oldest}`);
    }
    // Without batches different nodes may answer, and the one that was asked for the receipt may lag behind.
    if (calls.length > context.batch) {
      const [again] = await together(context, [receiptCall(hash)], signal);
      if (again?.result !== null) throw new UnclearFault(source, "it answered the same receipt in two ways");
    }
    return null;
  });
}

function receiptOf(value: unknown, { source, token }: RpcContext, hash: Hex): TransactionLogs {
  const field = "eth_getTransactionReceipt";
  const spot = (name: string) => ({ source, field: `${field}.${name}` });
  const receipt = membersOf(value, { source, field });
  const tx = word(receipt.transactionHash, spot("transactionHash"));
  if (tx !== hash) throw new BadAnswerError(source, `${field}.transactionHash`, `must be ${hash}, not ${tx}`);
  const block = quantity(receipt.blockNumber, spot("blockNumber"));
  const blockHash = word(receipt.blockHash, spot("blockHash"));
  const transfers: TokenTransfer[] = [];
  const authorizations: UsedAuthorization[] = [];
  let last = -1;
  for (const [n, item] of itemsOf(receipt.logs, spot("logs")).entries()) {
    const log = rawLog(item, spot(`logs[${n}]`));
    const { place } = log;
    if (place.tx !== hash || place.block !== block || place.blockHash !== blockHash || place.log <= last) {
      throw new BadAnswerError(source, `${field}.logs[${n}]`, "must be the next log of this transaction");
    }
    last = place.log;
    if (log.address !== token) continue;
    if (log.topics[0] === TRANSFER) transfers.push(tokenLog(log, token, "transfersTo") as TokenTransfer);
    if (log.topics[0] === AUTHORIZATION_USED) {
      authorizations.push(tokenLog(log, token, "authorizationsBy") as UsedAuthorization);
    }
  }
  return { tx, block, blockHash, transfers, authorizations };
}
