import type { DeriveEvent, RecordEvent } from "tallystick-derive/events";
import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import type { ChainView } from "./chainView.ts";

/** The number of transactions in one request. */
const TOGETHER = 16;

/** Transfers of a wallet that are read ahead. Further ones are read when they are needed. */
const MAX_TRANSFERS = 1_000;

const HASH = /^0x[0-9a-f]{64}$/;

/**
 * Reads in advance, in few requests, what records will need one after the other: the transactions that
 * receipts name, and the past of their new agents. An unneeded read costs a request, and changes nothing. A
 * wallet that a receipt names but that has not paid is not looked up, because anybody can write such receipts
 * for free.
 *
 * @param isWatched whether the log already has the transfers to a wallet
 */
export async function readAhead(
  view: ChainView,
  events: readonly DeriveEvent[],
  isWatched: (wallet: Address) => boolean,
): Promise<void> {
  const records = events.filter((it): it is RecordEvent => it.kind === "record" && it.error === undefined);
  if (records.length < 2 || view.final < view.firstBlock) return;
  const sides = new Set<Address>(
    records.filter(({ type }) => type === "listing").map(({ signer }) => signer),
  );
  const receipts = records.filter(namesTransaction);
  for (let n = 0; n < receipts.length; n += TOGETHER) {
    const some = receipts.slice(n, n + TOGETHER);
    const read = some.map(async ({ body, signer }) => {
      const logs = await view.transfers.transaction(body.tx_hash as Hex, view.final, view.retryRead);
      const payment = logs?.transfers.find(({ from }) => from === body.buyer);
      if (payment !== undefined) sides.add(payment.from).add(signer);
    });
    await Promise.all(read);
  }
  const fresh = [...sides].filter((it) => !isWatched(it));
  await view.transfers.first("transfersTo", fresh, view.final, MAX_TRANSFERS, view.retryRead);
}

function namesTransaction({ type, body: { tx_hash: tx, escrow_id: escrow } }: RecordEvent): boolean {
  return type === "receipt" && escrow === undefined && typeof tx === "string" && HASH.test(tx);
}
