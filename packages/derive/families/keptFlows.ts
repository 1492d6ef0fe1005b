import type { ApplyContext } from "../applyContext.ts";
import { append } from "../lists.ts";
import { formatInflow, type Inflow } from "./origin.ts";

/** Keeps a transfer that is as large as a funding, in case its receiver or a wallet that descends from it buys. */
export function keepFlow(context: ApplyContext, wallet: string, inflow: Inflow): void {
  append(context.store, reached(wallet), formatInflow(inflow));
}

/** Whether the owner of the money is known: it does not come from a hub and is not newly minted. */
export function isOfSomebody({ how }: Inflow): boolean {
  return how === "plain" || how === "payout";
}

/** The list of the transfers that are kept for a wallet, in the order in which they reached it. */
export function reached(wallet: string): string {
  return `reached/${wallet}`;
}
