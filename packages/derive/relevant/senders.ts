import type { ApplyContext } from "../applyContext.ts";
import type { CountEvent } from "../events.ts";
import type { Act } from "../families/origin.ts";
import { isBefore, type Place, placeOf } from "../place.ts";
import { paramsAt } from "./asOf.ts";

/** Notes where a wallet's n-th transfer is. */
export function countTold(context: ApplyContext, event: CountEvent): void {
  const { wallet, side, transfers, block, log, time } = event;
  const id = countId(wallet, side, transfers);
  if (context.store.get("transferCount", id) !== null) return;
  context.store.insert("transferCount", { id, block, log, time });
}

/**
 * Whether `hubTransfers` transfers had left the sender of a leg before the leg. Then the leg funds nobody. While a
 * relevant log is made, the number of a sender's transfers may not be known yet. Then the answer is true until this
 * number is read. So the transfers to an exchange are not searched.
 */
export function hasSentTooMany(context: ApplyContext, leg: Place & { from: string }): boolean {
  const { hubTransfers } = paramsAt(context, leg);
  const reached = context.store.get("transferCount", countId(leg.from, "out", hubTransfers));
  if (reached !== null) return isBefore(reached, leg);
  return !context.ask({ kind: "transfersFrom", wallet: leg.from, before: placeOf(leg), limit: hubTransfers });
}

/**
 * Where the first transfer above zero left a wallet, if that was before a position, else null. Undefined if
 * it is not read yet, while a relevant log is made.
 */
export function firstSpent(context: ApplyContext, wallet: string, before: Place): Act | null | undefined {
  const first = context.store.get("transferCount", countId(wallet, "spent", 1));
  if (first !== null) {
    const { block, log, time } = first;
    return isBefore(first, before) ? { block, log, time } : null;
  }
  return context.ask({ kind: "firstSpent", wallet, before: placeOf(before) }) ? null : undefined;
}

export function countId(wallet: string, side: CountEvent["side"], transfers: number): string {
  return `${wallet}/${side}/${transfers}`;
}
