import type { CountEvent } from "../events.ts";
import type { Act } from "../families/origin.ts";
import { isBefore, type Place, placeOf } from "../place.ts";
import type { Step } from "../step.ts";
import { paramsAt } from "./asOf.ts";

/** Notes where a wallet's n-th transfer is. */
export async function countTold(step: Step, event: CountEvent): Promise<void> {
  const { wallet, side, transfers, block, log, time } = event;
  const id = countId(wallet, side, transfers);
  if ((await step.store.get("transferCount", id)) !== null) return;
  await step.store.insert("transferCount", { id, block, log, time });
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

/**
 * Where the first transfer of some value left a wallet, when that was before a place, else null. Undefined while a relevant log is made and
 * that was not read yet.
 */
export async function firstSpent(step: Step, wallet: string, before: Place): Promise<Act | null | undefined> {
  const first = await step.store.get("transferCount", countId(wallet, "spent", 1));
  if (first !== null) {
    const { block, log, time } = first;
    return isBefore(first, before) ? { block, log, time } : null;
  }
  return step.ask({ kind: "firstSpent", wallet, before: placeOf(before) }) ? null : undefined;
}

export function countId(wallet: string, side: CountEvent["side"], transfers: number): string {
  return `${wallet}/${side}/${transfers}`;
}
