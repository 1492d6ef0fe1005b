import type { ApplyContext } from "../applyContext.ts";
import { isBefore, type Place } from "../place.ts";
import { askInflow } from "../relevant/inflow.ts";
import { isRelevant } from "../relevant/isRelevant.ts";
import { firstSpent, hasSentTooMany } from "../relevant/senders.ts";
import type { Row } from "../tables.ts";
import { findWallet } from "../wallets.ts";
import { largestUpTo } from "./inflows.ts";
import { type Act, earlier, type How, type Inflow, parseOrigin } from "./origin.ts";

/** How many steps a family's founder may be away. */
export const MOST_STEPS = 16;

/** The one family of all whose founder is farther. */
export const DEEP = "deep";

type Traced = { wallet: string; inflow: Inflow | null; how: How | "none"; act: Act };

/**
 * The family of a wallet that acted, fixed when it first did: that of the sender of its largest inflow before, an escrow's payout
 * counting as sent by the escrow's buyer. One without such an inflow, or with one from a hub, from a sender by count or from the zero
 * address, founds a family.
 *
 * @param act where it acted at the latest
 */
export async function familyOf(context: ApplyContext, wallet: string, act: Act): Promise<Row<"kin">> {
  const path: Traced[] = [];
  let [next, latest] = [wallet, act];
  let known = await context.store.get("kin", next);
  while (known === null) {
    const traced = await trace(context, next, latest);
    path.push(traced);
    if (traced.inflow === null || !hasParent(traced.how) || path.length > MOST_STEPS) break;
    const { block, log, time, from } = traced.inflow;
    latest = { block, log, time };
    next = from;
    known = await context.store.get("kin", next);
  }
  return settle(context, path, known);
}

/** What stands for a wallet where money comes back: its family, or itself where nobody can tell that. */
export function accountOf({ id, family }: Pick<Row<"kin">, "id" | "family">): string {
  return family === DEEP ? id : family;
}

/** Where a wallet first acted before a place; null when it had not. */
export async function actedBefore(context: ApplyContext, wallet: string, before: Place): Promise<Act | null> {
  const act = isRelevant(context)
    ? await relevantAct(context, wallet, before)
    : parseOrigin((await findWallet(context, wallet))?.origin ?? "").act;
  return act != null && isBefore(act, before) ? act : null;
}

/** Of a relevant log; undefined while it is being made and what the wallet sent is not read. */
async function relevantAct(
  context: ApplyContext,
  wallet: string,
  before: Place,
): Promise<Act | null | undefined> {
  const row = await context.store.get("act", wallet);
  const word = row === null ? null : { block: row.block, log: row.log, time: row.time };
  const spent = await firstSpent(context, wallet, word !== null && isBefore(word, before) ? word : before);
  return spent === undefined ? undefined : earlier(word, spent);
}

/** Where a wallet first acted, and what it began with. */
async function trace(context: ApplyContext, wallet: string, latest: Act): Promise<Traced> {
  if (!isRelevant(context)) {
    const { inflow, act } = parseOrigin((await findWallet(context, wallet))?.origin ?? "");
    return { wallet, inflow, how: inflow?.how ?? "none", act: act ?? latest };
  }
  const found = await relevantAct(context, wallet, latest);
  const act = earlier(found ?? null, latest) ?? latest;
  if (found === undefined) return { wallet, inflow: null, how: "none", act };
  await askInflow(context, wallet, act);
  const inflow = await largestUpTo(context, wallet, act);
  if (inflow === null) return { wallet, inflow, how: "none", act };
  const isBusy = inflow.how === "plain" && (await hasSentTooMany(context, inflow));
  return { wallet, inflow, how: isBusy ? "busy" : inflow.how, act };
}

function hasParent(how: How | "none"): boolean {
  return how === "plain" || how === "payout";
}

/** Writes the families of a path, from its end, and gives that of its first wallet. */
async function settle(
  context: ApplyContext,
  path: readonly Traced[],
  base: Row<"kin"> | null,
): Promise<Row<"kin">> {
  let after = base;
  for (const it of path.toReversed()) {
    const parent = it.inflow !== null && hasParent(it.how) ? it.inflow.from : null;
    // Of one whose own parent was not looked at, the family is not known.
    const isCut = after === null && parent !== null;
    if (isCut && it !== path[0]) continue;
    const depth: number = isCut ? MOST_STEPS + 1 : parent === null ? 0 : (after?.depth ?? MOST_STEPS) + 1;
    after = {
      id: it.wallet,
      family: depth > MOST_STEPS ? DEEP : parent === null ? it.wallet : (after?.family ?? DEEP),
      depth: Math.min(depth, MOST_STEPS + 1),
      parent,
      how: it.how,
      value: it.inflow?.value ?? null,
      block: it.inflow?.block ?? null,
      log: it.inflow?.log ?? null,
      actedBlock: it.act.block,
      actedLog: it.act.log,
      actedTime: it.act.time,
    };
    await context.store.insert("kin", after);
  }
  if (after === null) throw new Error("A family has at least one member.");
  return after;
}
