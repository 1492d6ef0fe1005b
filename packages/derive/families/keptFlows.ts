import type { ApplyContext } from "../applyContext.ts";
import { append } from "../lists.ts";
import { formatInflow, type Inflow } from "./origin.ts";

/** Keeps a transfer for when its receiver, or somebody whose money began there, buys. */
export async function keepFlow(context: ApplyContext, wallet: string, inflow: Inflow): Promise<void> {
  if (isOfSomebody(inflow)) await append(context.store, reached(wallet), formatInflow(inflow));
}

/** Whether it is known whose money it is: not a hub's, nor new. */
export function isOfSomebody({ how }: Inflow): boolean {
  return how === "plain" || how === "payout";
}

/** The list of what is kept of a wallet. */
export function reached(wallet: string): string {
  return `reached/${wallet}`;
}
