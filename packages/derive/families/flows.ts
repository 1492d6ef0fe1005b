import { amountsOf } from "../amountsOf.ts";
import type { ApplyContext } from "../applyContext.ts";
import { existingRow } from "../existingRow.ts";
import { append, itemIn, itemsOf, listLength } from "../lists.ts";
import { forEachRow } from "../loadedRows.ts";
import { watch } from "../relevant/inflow.ts";
import { isRelevant } from "../relevant/isRelevant.ts";
import { hasSentTooMany } from "../relevant/senders.ts";
import { schedule } from "../schedule.ts";
import type { Row } from "../tables.ts";
import { findWallet, walletToChange } from "../wallets.ts";
import { DEEP, familyOf } from "./familyOf.ts";
import { isOfSomebody, keepFlow, reached } from "./keptFlows.ts";
import { accountOf, cameThrough, memberAsSeller } from "./memberAsSeller.ts";
import { type Inflow, parseInflow } from "./origin.ts";

/**
 * Notes a transfer that is as large as a funding. Its receiver may later pay a seller with this money. If the
 * receiver bought something, or is an ancestor of a buyer, it may also be money that came back from a seller.
 */
export function noteFlow(context: ApplyContext, wallet: string, inflow: Inflow): void {
  if (inflow.value < amountsOf(context.params).minFunding) return;
  if (keepFlow(context, wallet, inflow).traced) addFlow(context, wallet, inflow);
}

/**
 * Traces a buyer and its ancestors: their transfers are noted from now on, and those of the window are noted
 * now.
 */
export function traceBuyer(context: ApplyContext, buyer: Row<"familyMember">): void {
  if (buyer.family === DEEP) return;
  let member: Row<"familyMember"> | null = buyer;
  while (member !== null) {
    // All ancestors of a traced wallet are traced too, so the loop ends here.
    if (findWallet(context, member.id)?.traced === true) return;
    walletToChange(context, member.id).traced = true;
    watch(context, member.id);
    addReached(context, member.id);
    member = member.parent === null ? null : context.store.get("familyMember", member.parent);
  }
}

/** Called when a transfer leaves the window. */
export function leaveFlow(context: ApplyContext, id: string, value: bigint): void {
  changeFlow(context, id, -value);
}

/** The money that came back from an account to a family within the window. */
export function flowOf({ store }: ApplyContext, account: string, family: string): bigint {
  return store.get("flow", flowId(account, family))?.value ?? 0n;
}

/** Reports every pair whose money that came back changed since the last tick. */
export function eachChangedFlow(
  context: ApplyContext,
  tell: (account: string, family: string) => void,
): void {
  forEachRow(itemsOf(context.store, changedIn(context.state.ticks)), (id) => {
    const [account, family] = id.split("/") as [string, string];
    tell(account, family);
  });
}

function addReached(context: ApplyContext, wallet: string): void {
  const since = context.state.time - context.params.windowSeconds;
  const end = reached(context, wallet);
  for (let next = end.length; next > 0; next -= AT_ONCE) {
    const inflows: Inflow[] = [];
    forEachRow(Array(Math.min(AT_ONCE, next)).keys(), (n) =>
      inflows.push(parseInflow(itemIn(context.store, end, next - 1 - n) as string)),
    );
    const old = inflows.findIndex(({ time }) => time <= since);
    forEachRow(old < 0 ? inflows : inflows.slice(0, old), (inflow) => addFlow(context, wallet, inflow));
    if (old >= 0) return;
  }
}

/** How many transfers are read together. A wallet may have got thousands. */
const AT_ONCE = 512;

function addFlow(context: ApplyContext, wallet: string, inflow: Inflow): void {
  const due = inflow.time + context.params.windowSeconds;
  if (!isOfSomebody(inflow) || due <= context.state.time) return;
  if (inflow.how === "plain" && isRelevant(context) && hasSentTooMany(context, inflow)) return;
  const receiver = existingRow(context.store, "familyMember", wallet);
  // This money moves away from the founder, from a wallet to a later wallet of the family. So it does not come back.
  if (cameThrough(context, receiver, inflow.from)) return;
  // The sender has spent by now, so it has a family. The family that it has as a seller comes first. So a seller that
  // got its first money from a customer does not belong to the customer's family when it gives that money back.
  const account = accountOf(
    memberAsSeller(context, inflow.from, inflow) ?? familyOf(context, inflow.from, inflow),
  );
  if (account === receiver.family) return;
  const id = flowId(account, receiver.family);
  changeFlow(context, id, inflow.value);
  schedule(context, due, "flow", `${id} ${inflow.value}`);
}

function changeFlow(context: ApplyContext, id: string, by: bigint): void {
  const { ticks } = context.state;
  const row = context.store.get("flow", id);
  // Most flows concern no seller. If a flow concerns a seller later, that seller's figures use the whole flow.
  const isNoted = row?.touched === ticks;
  const concerns = isNoted || listLength(context.store, soldFrom(id)) > 0;
  const change = { value: (row?.value ?? 0n) + by, touched: concerns ? ticks : (row?.touched ?? null) };
  context.store.put("flow", { id, ...change });
  if (concerns && !isNoted) append(context.store, changedIn(ticks), id);
}

/** The list of sellers whose money from a family went to one account: the seller's own, or a payee's. */
export function soldFrom(flow: string): string {
  return `sold/${flow}`;
}

/** The id of the row of the money that came back from an account to a family. */
export function flowId(account: string, family: string): string {
  return `${account}/${family}`;
}

function changedIn(tick: number): string {
  return `flows/${tick}`;
}
