import type { ApplyContext } from "../applyContext.ts";
import { type ListEnd, withItem } from "../lists.ts";
import type { Row } from "../tables.ts";
import { findWallet, walletToChange } from "../wallets.ts";
import { formatInflow, type Inflow } from "./origin.ts";

/**
 * Keeps a transfer that is as large as a funding. A hire may need it later, if the receiver or one of its descendants
 * buys.
 *
 * @returns the row of the wallet
 */
export function keepFlow(context: ApplyContext, wallet: string, inflow: Inflow): Row<"wallet"> {
  const { length, tail } = withItem(context.store, reached(context, wallet), formatInflow(inflow));
  const row = walletToChange(context, wallet);
  row.reached = length;
  row.reachedTail = tail;
  return row;
}

/** Whether the owner of the money is known: it does not come from a hub and is not newly minted. */
export function isOfSomebody({ how }: Inflow): boolean {
  return how === "plain" || how === "payout";
}

/**
 * The end of the list of the transfers that are kept for a wallet, in the order in which they reached it. The wallet's
 * own row holds it.
 */
export function reached(context: ApplyContext, wallet: string): ListEnd {
  const row = findWallet(context, wallet);
  return { id: `reached/${wallet}`, length: row?.reached ?? 0, tail: row?.reachedTail ?? "" };
}
