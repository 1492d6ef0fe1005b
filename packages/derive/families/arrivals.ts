import type { ApplyContext } from "../applyContext.ts";
import { lastWhere } from "../lastWhere.ts";
import { allItems, append, lastItem } from "../lists.ts";
import { isBefore, type Place } from "../place.ts";
import { isRelevant } from "../relevant/isRelevant.ts";
import type { Row } from "../tables.ts";
import { findWallet, walletToChange } from "../wallets.ts";

/** The highest number of payments of one buyer in one block that are compared with one another. */
const MAX_PAYMENTS = 16;

/**
 * This value in place of a block or a sum means that too many transfers have reached the wallet. Then the wallet's
 * money is not examined.
 */
const FULL = -1;
const FULL_SUM = BigInt(FULL);

/**
 * The place at which the money of a hire left its buyer. `arrived` is the money that had reached the buyer earlier in
 * that block. It is null if the buyer had got too many transfers by then. If it is absent, it is looked up.
 */
export type Paid = Place & { arrived?: bigint | null };

/**
 * Adds a transfer to what reached a wallet in this block, even if it is too small to fund anybody or comes from a hub.
 * A transfer from the wallet itself adds nothing.
 *
 * @param isFull whether `hubTransfers` transfers have reached the wallet, with this one
 */
export function noteArrival(
  context: ApplyContext,
  wallet: string,
  { from, value, block, log }: Place & { from: string; value: bigint },
  isFull: boolean,
): void {
  if (!isFull && (value === 0n || from === wallet)) return;
  if (isRelevant(context)) {
    const last = parseArrival(lastItem(context.store, arrivals(wallet)));
    if (isFull && last?.sum === FULL_SUM) return;
    const sum = isFull ? FULL_SUM : value + (last?.block === block && last.sum > 0n ? last.sum : 0n);
    append(context.store, arrivals(wallet), `${block} ${log} ${sum}`);
  } else {
    const arrived = isFull ? 0n : value + (arrivedNow(context, wallet, block) ?? 0n);
    const row = walletToChange(context, wallet);
    row.arrivedBlock = isFull ? FULL : block;
    row.arrived = arrived;
  }
}

/** In a log of all transfers: what has reached a wallet in this block up to now; null if it got too many transfers. */
export function arrivedNow(context: ApplyContext, wallet: string, block: number): bigint | null {
  const row = findWallet(context, wallet);
  if (row?.arrivedBlock === FULL) return null;
  return row?.arrivedBlock === block ? row.arrived : 0n;
}

/**
 * What had reached a wallet in the block of a place, before that place; null if it had got too many transfers.
 *
 * @param wallet in a relevant log, a wallet whose transfers up to this place are all in the log
 */
export function arrivedBefore(context: ApplyContext, wallet: string, place: Place): bigint | null {
  if (!isRelevant(context)) return arrivedNow(context, wallet, place.block);
  const isEarlier = (item: string) => isBefore(parseArrival(item) as Place, place);
  const last = parseArrival(lastWhere(context.store, arrivals(wallet), isEarlier));
  if (last?.sum === FULL_SUM) return null;
  return last?.block === place.block ? last.sum : 0n;
}

/**
 * How much of the price of a hire the buyer had before the block in which it paid. The buyer pays the rest with money
 * that reached it in that block before the payment. A loan can be taken and given back within one block, so such
 * money shows nothing. Money that an earlier hire of the block used does not count again. If a buyer has got
 * `hubTransfers` transfers, its earlier money is unknown and counts as zero.
 */
export function hadBefore(
  context: ApplyContext,
  { buyer, price }: Pick<Row<"hire">, "buyer" | "price">,
  paid: Paid,
): bigint {
  const arrived = paid.arrived === undefined ? arrivedBefore(context, buyer, paid) : paid.arrived;
  if (arrived === null) return 0n;
  if (arrived === 0n) return price;
  const list = `paidInBlock/${buyer}/${paid.block}`;
  const others = allItems(context.store, list).map(parsePayment);
  const payment = { log: paid.log, price, arrived };
  // A hire that is not stored here can only make this figure too small.
  if (others.length < MAX_PAYMENTS) append(context.store, list, `${paid.log} ${price} ${arrived}`);
  return needed([...others, payment]) - needed(others);
}

type Payment = { log: number; price: bigint; arrived: bigint };

/** The least money that a buyer must have had before a block to make these payments in the block. */
function needed(payments: readonly Payment[]): bigint {
  let [spent, most] = [0n, 0n];
  for (const { price, arrived } of payments.toSorted((a, b) => a.log - b.log)) {
    spent += price;
    if (spent - arrived > most) most = spent - arrived;
  }
  return most;
}

function parsePayment(item: string): Payment {
  const [log, price, arrived] = item.split(" ");
  return { log: Number(log), price: BigInt(price ?? 0), arrived: BigInt(arrived ?? 0) };
}

function parseArrival(item: string | null): (Place & { sum: bigint }) | null {
  if (item === null) return null;
  const [block, log, sum] = item.split(" ");
  return { block: Number(block), log: Number(log), sum: BigInt(sum ?? 0) };
}

/** In a relevant log: what reached a wallet, as `<block> <log> <sum in this block so far>`. */
function arrivals(wallet: string): string {
  return `arrived/${wallet}`;
}
