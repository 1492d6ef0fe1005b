import type { Hex } from "tallystick-protocol/hex";
import { HistoryMissingError } from "../errors.ts";
import type { BlockAt } from "../logPort.ts";
import { slots } from "../slots.ts";
import { TRANSFER } from "../tokenLogs.ts";
import {
  faultError,
  headerFrom,
  type RpcContext,
  retryWhileStale,
  together,
  UnclearFault,
} from "./context.ts";
import type { RpcCall, RpcReply } from "./jsonRpc.ts";
import { oldestTransaction } from "./oldestTransaction.ts";
import { hexOf, itemsOf, type RawLog, rawLog } from "./parse.ts";
import { headerCall } from "./readHeaders.ts";
import { refusalOf } from "./refusals.ts";

/**
 * The first and the largest number of blocks per request in the search for the token's first transfer. It
 * starts small, because many transfers may follow the first one.
 */
const [FIRST_STEP, MAX_STEP] = [16, 10_000];

/**
 * A node that has deleted old logs may answer `[]` for them. This looks the same as a wallet without
 * transfers. So every request for a range also asks for the token's first transfer, which is older than
 * everything that may be deleted. The search for this first transfer is trusted only if the node still knows
 * a transaction of the token's first block.
 */
export type HistoryCheck = {
  /** Finds the token's first transfer. It searches only once. */
  prepare(finalized: BlockAt, signal: AbortSignal): Promise<void>;
  /** The additional call; null while the token has no transfer. */
  call(): RpcCall | null;
  /** A transaction that every node with the whole history knows. */
  transaction(): Hex | null;
  /** @throws HistoryMissingError when the answer lacks the first transfer */
  check(reply: RpcReply): void;
};

export function openHistoryCheck(context: RpcContext): HistoryCheck {
  const { source, token, firstBlock, rpc } = context;
  let anchor: RawLog["place"] | null = null;
  let oldest: Hex | null = null;
  let cursor = firstBlock;
  let step = FIRST_STEP;
  const turn = slots(1);

  const missing = (what: string) => new HistoryMissingError(source, firstBlock, what);

  /** Searches the next blocks. */
  async function search(finalized: BlockAt, signal: AbortSignal): Promise<void> {
    oldest ??= await oldestTransaction(context, finalized.block, signal);
    const to = Math.min(finalized.block, cursor + step - 1);
    const filter = { address: token, topics: [TRANSFER], fromBlock: hexOf(cursor), toBlock: hexOf(to) };
    const asked: RpcCall[] = [headerCall(to), { method: "eth_getLogs", params: [filter] }];
    const known = oldest === null ? [] : [{ method: "eth_getTransactionReceipt", params: [oldest] }];
    const [header, logs, receipt] = await together(context, [...asked, ...known], signal);
    const { fault, result } = logs as RpcReply;
    if (fault) {
      const refusal = refusalOf(fault);
      if (!["range", "size", "other"].includes(refusal) || step === 1) throw faultError(context, fault, to);
      step = Math.floor(step / 2);
      return;
    }
    headerFrom(context, header as RpcReply, to);
    if (receipt !== undefined && (receipt.fault || receipt.result === null)) {
      throw missing(`it does not know transaction ${oldest} of the token's first block`);
    }
    const found = itemsOf(result, { source, field: "eth_getLogs" }).map((item, n) =>
      rawLog(item, { source, field: `eth_getLogs[${n}]` }),
    );
    anchor = found.map(({ place }) => place).sort((a, b) => a.block - b.block || a.log - b.log)[0] ?? null;
    cursor = to + 1;
    step = Math.min(MAX_STEP, step * 4);
  }

  /** Checks that the token has no supply. A supply without a transfer would mean that logs are missing. */
  async function expectNoSupply(finalized: BlockAt, signal: AbortSignal): Promise<void> {
    const params = [{ to: token, data: "0x18160ddd" }, hexOf(finalized.block)];
    const [{ fault, result }] = await rpc.send([{ method: "eth_call", params }] as const, signal);
    if (fault) {
      const message = `totalSupply: error ${fault.code}: ${fault.message}`;
      throw new UnclearFault(source, message, { error: fault.code });
    }
    if (typeof result === "string" && /[1-9a-f]/.test(result.slice(2))) {
      throw missing("the token has a supply, but no transfer was found");
    }
  }

  async function find(finalized: BlockAt, signal: AbortSignal): Promise<void> {
    const wasSearched = cursor > finalized.block;
    while (anchor === null && cursor <= finalized.block) await search(finalized, signal);
    if (anchor !== null || wasSearched) return;
    try {
      await expectNoSupply(finalized, signal);
    } catch (error) {
      cursor = firstBlock;
      throw error;
    }
  }

  return {
    prepare: (finalized, signal) =>
      turn(() => retryWhileStale(context, "eth_getLogs", signal, () => find(finalized, signal))),
    call: () => {
      if (anchor === null) return null;
      const block = hexOf(anchor.block);
      const filter = { address: token, topics: [TRANSFER], fromBlock: block, toBlock: block };
      return { method: "eth_getLogs", params: [filter] };
    },
    transaction: () => anchor?.tx ?? oldest,
    check: ({ fault, result }) => {
      if (anchor === null) return;
      if (fault) throw faultError(context, fault, anchor.block);
      const { log, tx, block } = anchor;
      const isThere = itemsOf(result, { source, field: "eth_getLogs" }).some((item, n) => {
        const { place } = rawLog(item, { source, field: `eth_getLogs[${n}]` });
        return place.log === log && place.tx === tx;
      });
      if (!isThere) throw missing(`it leaves out the token's first transfer, in block ${block}`);
    },
  };
}
