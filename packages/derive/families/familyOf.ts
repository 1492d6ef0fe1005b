import type { ApplyContext } from "../applyContext.ts";
import type { Place } from "../place.ts";
import { askInflow } from "../relevant/inflow.ts";
import { isRelevant } from "../relevant/isRelevant.ts";
import { firstSpent, hasSentTooMany } from "../relevant/senders.ts";
import type { Row } from "../tables.ts";
import { findWallet } from "../wallets.ts";
import { largestUpTo } from "./inflows.ts";
import { type Act, type How, type Inflow, parseOrigin } from "./origin.ts";

/** The most steps from a wallet to the founder of its family. */
export const MAX_STEPS = 16;

/** The family of all wallets whose founder is farther away. */
export const DEEP = "deep";

type Traced = { wallet: string; inflow: Inflow | null; how: How | "none"; act: Act };

/**
 * The family of a wallet that spent. It is fixed when the wallet first spends, and is the family of the sender of its
 * largest inflow before that. The payout of an escrow counts as sent by the escrow's buyer. A wallet without such an
 * inflow founds its own family. So does a wallet whose inflow comes from a hub, from a wallet with too many transfers,
 * or from the zero address. A registration fixes nothing: it is free, and the money may come after it.
 *
 * @param act a place at which the wallet had certainly spent
 */
export function familyOf(context: ApplyContext, wallet: string, act: Act): Row<"familyMember"> {
  const path: Traced[] = [];
  let [next, latest] = [wallet, act];
  let known = context.store.get("familyMember", next);
  while (known === null) {
    const traced = trace(context, next, latest);
    path.push(traced);
    if (traced.inflow === null || !hasParent(traced.how) || path.length > MAX_STEPS) break;
    const { block, log, time, from } = traced.inflow;
    latest = { block, log, time };
    next = from;
    known = context.store.get("familyMember", next);
  }
  return settle(context, path, known);
}

/** Finds where a wallet first spent, and its largest inflow before that. */
function trace(context: ApplyContext, wallet: string, latest: Act): Traced {
  if (!isRelevant(context)) {
    const { inflow, act } = parseOrigin(findWallet(context, wallet)?.origin ?? "");
    return { wallet, inflow, how: inflow?.how ?? "none", act: act ?? latest };
  }
  const found = firstSpent(context, wallet, latest);
  if (found === undefined) return { wallet, inflow: null, how: "none", act: latest };
  const act = found ?? latest;
  return { wallet, ...begunWith(context, wallet, act), act };
}

/** In a relevant log: a wallet's largest inflow up to a place, and how it counts. */
export function begunWith(context: ApplyContext, wallet: string, end: Place): Pick<Traced, "inflow" | "how"> {
  askInflow(context, wallet, end);
  const inflow = largestUpTo(context, wallet, end);
  if (inflow === null) return { inflow, how: "none" };
  const isBusy = inflow.how === "plain" && hasSentTooMany(context, inflow);
  return { inflow, how: isBusy ? "busy" : inflow.how };
}

/** Whether a wallet whose largest inflow counts like this is in the family of its sender. */
export function hasParent(how: How | "none"): boolean {
  return how === "plain" || how === "payout";
}

/** Stores the families of all wallets on a path, from its end, and returns the family of the first wallet. */
function settle(
  context: ApplyContext,
  path: readonly Traced[],
  base: Row<"familyMember"> | null,
): Row<"familyMember"> {
  let after = base;
  for (const it of path.toReversed()) {
    const parent = it.inflow !== null && hasParent(it.how) ? it.inflow.from : null;
    // If the parent of the last wallet was not read, its family is unknown.
    const isCut = after === null && parent !== null;
    if (isCut && it !== path[0]) continue;
    const depth: number = isCut ? MAX_STEPS + 1 : parent === null ? 0 : (after?.depth ?? MAX_STEPS) + 1;
    after = {
      id: it.wallet,
      family: depth > MAX_STEPS ? DEEP : parent === null ? it.wallet : (after?.family ?? DEEP),
      depth: Math.min(depth, MAX_STEPS + 1),
      parent,
      how: it.how,
      value: it.inflow?.value ?? null,
      block: it.inflow?.block ?? null,
      log: it.inflow?.log ?? null,
      actedBlock: it.act.block,
      actedLog: it.act.log,
      actedTime: it.act.time,
      ofHire: false,
    };
    context.store.insert("familyMember", after);
  }
  if (after === null) throw new Error("A family has at least one member.");
  return after;
}
