import { amountsOf } from "tallystick-derive/amountsOf";
import type { DeriveEvent, RecordEvent } from "tallystick-derive/events";
import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import { checkPayeeSignature } from "tallystick-protocol/records/listing";
import type { Params } from "tallystick-protocol/records/params";
import type { TokenTransfer } from "../logPort/logPort.ts";
import type { ChainView } from "./chainView.ts";
import { nextBuyers } from "./nextBuyers.ts";
import { fundersOf, MOST_AHEAD, MOST_BESIDE, MOST_WALLETS, readPaths } from "./readPaths.ts";

/** The number of transactions in one request. */
const TOGETHER = 16;

/**
 * The most buyers of which more than {@link MOST_BESIDE} transfers are read in advance. Anybody can send them tiny transfers. A
 * thousand buyers with a thousand transfers each would push each other out of memory.
 */
export const MOST_LONG = 300;

const HASH = /^0x[0-9a-f]{64}$/;

/**
 * Reads in advance, in few requests, what records or deposits would otherwise read one after the other. These are the
 * transactions that receipts name, the past of the new agents in them, and the funding paths to these agents. An
 * unneeded read costs a request, and changes nothing. Anybody can write receipts for free. So a buyer that a receipt names
 * is looked up only if it paid. The inflows of the signer are needed in any case, because the receipt may wait for its payment.
 *
 * @param isWatched whether the log already has the transfers to a wallet
 */
export async function readAhead(
  view: ChainView,
  events: readonly DeriveEvent[],
  params: Params,
  isWatched: (wallet: Address) => boolean,
): Promise<void> {
  if (view.final < view.firstBlock) return;
  const [first] = events;
  if (first?.kind === "escrow.deposited") {
    if (view.transfers.isKnown("transfersTo", first.buyer, view.final, MOST_AHEAD)) return;
    const buyers = await nextBuyers(view, first, params);
    const upTo = view.finalizedHead.block;
    await readOrigins(view, { sides: buyers, upTo, most: MOST_BESIDE }, params, isWatched);
    // The buyers come last. Otherwise the pasts of their funders could push them out of memory.
    await readBuyers(view, buyers, upTo, isWatched);
    return;
  }
  const records = events.filter((it): it is RecordEvent => it.kind === "record" && it.error === undefined);
  if (records.length < 2) return;
  const listings = records.filter(({ type }) => type === "listing");
  const sides = new Set<Address>(listings.flatMap(({ signer, body }) => [signer, ...payeeOf(body)]));
  const receipts = records.filter(({ type }) => type === "receipt");
  const signers = new Set<Address>(receipts.map(({ signer }) => signer));
  const byTransaction = Map.groupBy(receipts.filter(namesTransaction), ({ body }) => body.tx_hash as Hex);
  const hashes = [...byTransaction.keys()];
  for (let n = 0; n < hashes.length; n += TOGETHER) {
    const some = hashes.slice(n, n + TOGETHER).map(async (hash) => {
      const logs = await view.transfers.transaction(hash, view.final, view.retryRead);
      for (const receipt of byTransaction.get(hash) ?? []) {
        const payment = logs?.transfers.find((it) => mayPay(it, receipt, params, isWatched));
        if (payment !== undefined) sides.add(payment.from).add(receipt.signer);
      }
    });
    await Promise.all(some);
  }
  for (const some of groupsOf([...signers, ...sides], isWatched)) {
    await view.transfers.first("transfersTo", some, view.final, MOST_AHEAD, view.retryRead);
  }
  await readOrigins(view, { sides, upTo: view.final, most: MOST_AHEAD }, params, isWatched);
}

/** Reads what the next buyers received up to a block. If they received many transfers, more of them are read of the first buyers. */
async function readBuyers(
  { transfers, retryRead }: ChainView,
  buyers: readonly Address[],
  upTo: number,
  isWatched: (wallet: Address) => boolean,
): Promise<void> {
  for (const some of groupsOf(buyers, isWatched)) {
    await transfers.first("transfersTo", some, upTo, MOST_BESIDE, retryRead);
    const long = some.filter((it) => !transfers.isKnown("transfersTo", it, upTo, MOST_AHEAD));
    await transfers.first("transfersTo", long.slice(0, MOST_LONG), upTo, MOST_AHEAD, retryRead);
  }
}

/**
 * Reads where the money of the sides of hires came from, and whether they spent some.
 *
 * @param most as many of the transfers that each side received up to the block `upTo` are known
 */
async function readOrigins(
  view: ChainView,
  { sides, upTo, most }: { sides: Iterable<Address>; upTo: number; most: number },
  params: Params,
  isWatched: (wallet: Address) => boolean,
): Promise<void> {
  const { transfers, finalizedHead, retryRead } = view;
  for (const some of groupsOf(sides, isWatched)) {
    const funders = await fundersOf(view, some, params, upTo, most);
    // The first transfer that a wallet sent shows whether the wallet has spent.
    await transfers.first("transfersFrom", some, finalizedHead.block, 1, retryRead);
    await readPaths(view, funders, params, isWatched);
  }
}

/** The wallets that are not watched yet, in groups that share a request. */
function groupsOf(wallets: Iterable<Address>, isWatched: (wallet: Address) => boolean): Address[][] {
  const fresh = [...new Set(wallets)].filter((it) => !isWatched(it));
  return Array.from({ length: Math.ceil(fresh.length / MOST_WALLETS) }, (_, n) =>
    fresh.slice(n * MOST_WALLETS, (n + 1) * MOST_WALLETS),
  );
}

/** The payee that a listing names, if the payee signed that. Anybody can name a wallet with a long past. */
function payeeOf(body: RecordEvent["body"]): Address[] {
  const isNamed = typeof body.payee_signature === "string" && body.payee !== body.agent_id;
  return isNamed && checkPayeeSignature(body) ? [body.payee as Address] : [];
}

function namesTransaction({ body: { tx_hash: tx, escrow_id: escrow } }: RecordEvent): boolean {
  return escrow === undefined && typeof tx === "string" && HASH.test(tx);
}

/** Whether a transfer may be the payment of a receipt. A payee that agreed to be paid for an agent is watched. */
function mayPay(
  { from, to, value }: TokenTransfer,
  { body, signer }: RecordEvent,
  params: Params,
  isWatched: (wallet: Address) => boolean,
): boolean {
  const isPayee = to === signer || (to === body.payee && isWatched(to));
  const isAmount = value >= amountsOf(params).minHire && String(value) === body.amount_usdc_atomic;
  return from === body.buyer && isPayee && isAmount;
}
