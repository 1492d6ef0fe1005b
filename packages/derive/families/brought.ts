import type { ApplyContext } from "../applyContext.ts";
import { existingRow } from "../existingRow.ts";
import { itemIn } from "../lists.ts";
import { isRelevant } from "../relevant/isRelevant.ts";
import { hasSentTooMany } from "../relevant/senders.ts";
import type { Row } from "../tables.ts";
import { reached } from "./keptFlows.ts";
import { cameThrough } from "./memberAsSeller.ts";
import { type Inflow, parseInflow } from "./origin.ts";

/** The highest number of transfers that are looked at for one hire, over the buyer and all wallets before it. */
const MAX_LOOKS = 16;

/**
 * Takes the price of a hire from the money that its buyer brought from outside. Such money comes from hubs, from
 * senders of too many transfers, and from mints. It reached the buyer, or a wallet before the buyer that passed it
 * on. Each unit is taken once, so money that circulates adds nothing, whatever way it takes.
 *
 * @param buyer a traced wallet, so that all transfers that reached it are kept
 * @returns how much there was, at most the price
 */
export function takeBrought(context: ApplyContext, buyer: Row<"familyMember">, price: bigint): bigint {
  return take(context, buyer, price, { left: MAX_LOOKS });
}

function take(
  context: ApplyContext,
  member: Row<"familyMember">,
  wanted: bigint,
  looks: { left: number },
): bigint {
  const before = context.store.get("brought", member.id);
  const now = { ...(before ?? { id: member.id, seen: 0, left: 0n, lender: null, rest: 0n }) };
  const end = reached(context, member.id);
  while (now.left < wanted) {
    if (now.lender !== null) {
      if (!borrow(context, now, now.lender, { wanted: wanted - now.left, looks })) break;
      continue;
    }
    if (now.seen === end.length || looks.left === 0) break;
    looks.left--;
    const inflow = parseInflow(itemIn(context.store, end, now.seen) as string);
    now.seen++;
    if (isFromOutside(context, inflow)) now.left += inflow.value;
    else if (cameThrough(context, member, inflow.from)) [now.lender, now.rest] = [inflow.from, inflow.value];
  }
  const taken = now.left < wanted ? now.left : wanted;
  now.left -= taken;
  if (before === null || !isSame(before, now)) context.store.put("brought", now);
  return taken;
}

/** Whether a row did not change. Most hires find nothing new, and then no row is written. */
function isSame(a: Row<"brought">, b: Row<"brought">): boolean {
  return a.seen === b.seen && a.left === b.left && a.lender === b.lender && a.rest === b.rest;
}

/**
 * Takes money from the wallet that passed money on, but not more than it passed on. Returns false if the limit of
 * examined transfers is reached before it is known how much that wallet has.
 */
function borrow(
  context: ApplyContext,
  now: Row<"brought">,
  lender: string,
  { wanted, looks }: { wanted: bigint; looks: { left: number } },
): boolean {
  const most = now.rest < wanted ? now.rest : wanted;
  const got = take(context, existingRow(context.store, "familyMember", lender), most, looks);
  now.left += got;
  now.rest -= got;
  if (got < most && looks.left === 0) return false;
  if (got < most || now.rest === 0n) [now.lender, now.rest] = [null, 0n];
  return true;
}

/**
 * Whether a transfer brings money from outside all families: from a hub, from a sender of too many transfers,
 * or newly minted.
 */
function isFromOutside(context: ApplyContext, inflow: Inflow): boolean {
  if (inflow.how === "payout") return false;
  return inflow.how !== "plain" || (isRelevant(context) && hasSentTooMany(context, inflow));
}
