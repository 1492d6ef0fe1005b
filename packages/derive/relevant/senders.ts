import type { CountEvent } from "../events.ts";
import { isBefore, type Place, placeOf } from "../place.ts";
import type { Step } from "../step.ts";
import { paramsAt } from "./asOf.ts";

/** Notes where a wallet's n-th transfer is. */
export async function countTold(step: Step, event: CountEvent): Promise<void> {
  const { wallet, side, transfers, block, log } = event;
  const id = countId(wallet, side, transfers);
  if ((await step.store.get("transferCount", id)) !== null) return;
  await step.store.insert("transferCount", { id, block, log });
}

/**
 * Whether `hubTransfers` transfers had left the sender of a leg before it: then it funds nobody. While a relevant log is made, one of
 * which that is not known yet is taken to have sent as many, so that nothing is looked for behind an exchange.
 */
export async function hasSentTooMany(step: Step, leg: Place & { from: string }): Promise<boolean> {
  const { hubTransfers } = await paramsAt(step, leg);
  const reached = await step.store.get("transferCount", countId(leg.from, "out", hubTransfers));
  if (reached !== null) return isBefore(reached, leg);
  return !step.ask({ kind: "transfersFrom", wallet: leg.from, before: placeOf(leg), limit: hubTransfers });
}

export function countId(wallet: string, side: "in" | "out", transfers: number): string {
  return `${wallet}/${side}/${transfers}`;
}
