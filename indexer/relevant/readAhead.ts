import type { DeriveEvent, RecordEvent } from "tallystick-derive/events";
import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import type { Params } from "tallystick-protocol/records/params";
import type { ChainView } from "./chainView.ts";
import { fundersOf, MOST_WALLETS, readPaths } from "./readPaths.ts";

/** The number of transactions in one request. */
const TOGETHER = 16;

const HASH = /^0x[0-9a-f]{64}$/;

/**
 * Reads in advance, in few requests, what records would otherwise read one after the other. These are the
 * transactions that receipts name, the past of the new agents in them, and the funding paths to these agents. An
 * unneeded read costs a request, and changes nothing. If a receipt names a wallet that has not paid, the wallet is
 * not looked up: anybody can write such receipts for free.
 *
 * @param isWatched whether the log already has the transfers to a wallet
 */
export async function readAhead(
  view: ChainView,
  events: readonly DeriveEvent[],
  params: Params,
  isWatched: (wallet: Address) => boolean,
): Promise<void> {
  const records = events.filter((it): it is RecordEvent => it.kind === "record" && it.error === undefined);
  if (records.length < 2 || view.final < view.firstBlock) return;
  const sides = new Set<Address>(
    records.filter(({ type }) => type === "listing").map(({ signer }) => signer),
  );
  const byTransaction = Map.groupBy(records.filter(namesTransaction), ({ body }) => body.tx_hash as Hex);
  const hashes = [...byTransaction.keys()];
  for (let n = 0; n < hashes.length; n += TOGETHER) {
    const some = hashes.slice(n, n + TOGETHER).map(async (hash) => {
      const logs = await view.transfers.transaction(hash, view.final, view.retryRead);
      for (const { body, signer } of byTransaction.get(hash) ?? []) {
        const payment = logs?.transfers.find(({ from }) => from === body.buyer);
        if (payment !== undefined) sides.add(payment.from).add(signer);
      }
    });
    await Promise.all(some);
  }
  const fresh = [...sides].filter((it) => !isWatched(it));
  const { transfers, final, finalizedHead, retryRead } = view;
  for (let n = 0; n < fresh.length; n += MOST_WALLETS) {
    const some = fresh.slice(n, n + MOST_WALLETS);
    const funders = await fundersOf(view, some, params, final);
    // The first transfer that a wallet sent shows whether the wallet has spent.
    await transfers.first("transfersFrom", some, finalizedHead.block, 1, retryRead);
    await readPaths(view, funders, params, isWatched);
  }
}

function namesTransaction({ type, body: { tx_hash: tx, escrow_id: escrow } }: RecordEvent): boolean {
  return type === "receipt" && escrow === undefined && typeof tx === "string" && HASH.test(tx);
}
