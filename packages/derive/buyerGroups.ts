import { agentRow, changeAgent, updateAgent } from "./agentRow.ts";
import type { ApplyContext } from "./applyContext.ts";
import { append, itemsOf } from "./lists.ts";
import type { Row } from "./tables.ts";

/**
 * The buyer group of an address: the addresses that were ever in one cluster with it. They count as one buyer. The group has
 * the name of one of them.
 *
 * A group has a row `<group>/<seller>` for each seller, with its hires in the window. The rows form a chain from the newest to
 * the first, so two groups can be merged. The smaller group is merged into the larger, which keeps merging cheap. The same
 * rows also hold what each address bought by itself: a group may have to be split.
 */
export function buyerGroupOf(context: ApplyContext, buyer: string): string {
  const path: string[] = [];
  let buyerGroup = buyer;
  for (;;) {
    const parent = context.store.get("buyerGroup", buyerGroup)?.parent ?? buyerGroup;
    if (parent === buyerGroup) break;
    path.push(buyerGroup);
    buyerGroup = parent;
  }
  for (const passed of path.slice(0, -1)) context.store.update("buyerGroup", passed, { parent: buyerGroup });
  return buyerGroup;
}

/** Adds a hire that enters the window. */
export function addPurchase(context: ApplyContext, buyer: string, seller: string): void {
  countPurchase(context, buyer, seller, 1);
}

/** A hire leaves the window. */
export function removePurchase(context: ApplyContext, buyer: string, seller: string): void {
  countPurchase(context, buyer, seller, -1);
}

/** Makes two addresses count as one buyer, by merging their groups. */
export function joinBuyerGroups(context: ApplyContext, a: string, b: string): void {
  const groups = [buyerGroupOf(context, a), buyerGroupOf(context, b)] as const;
  if (groups[0] === groups[1]) return;
  const lengths = [agentRow(context, groups[0]).sellers, agentRow(context, groups[1]).sellers] as const;
  const [small, large] = lengths[0] < lengths[1] ? groups : ([groups[1], groups[0]] as const);
  if (context.store.get("buyerGroup", small) === null) {
    context.store.insert("buyerGroup", { id: small, parent: large });
  } else {
    context.store.update("buyerGroup", small, { parent: large });
  }
  if (context.store.get("buyerGroup", large) === null) {
    context.store.insert("buyerGroup", { id: large, parent: large });
  }
  append(context.store, mergedInto(large), small);
  for (const { seller, held } of purchasesOf(context, small)) {
    if (held === 0) continue;
    changePurchases(context, small, seller, { own: 0, held: -held });
    changePurchases(context, large, seller, { own: 0, held });
  }
}

/**
 * Builds the groups of these addresses again: each address starts alone, and joins the addresses with which it still shares
 * one of `groupsOf`.
 */
export function splitBuyerGroups(
  context: ApplyContext,
  addresses: Iterable<string>,
  groupsOf: (address: string) => string[],
): void {
  const members = new Set<string>();
  for (const address of addresses) collectMerged(context, buyerGroupOf(context, address), members);
  for (const member of members) {
    for (const { seller, own, held } of purchasesOf(context, member)) {
      if (own !== held) changePurchases(context, member, seller, { own: 0, held: own - held });
    }
    if (context.store.get("buyerGroup", member) !== null) {
      context.store.update("buyerGroup", member, { parent: member });
    }
  }
  const firstOf = new Map<string, string>();
  for (const member of members) {
    for (const group of groupsOf(member)) {
      const first = firstOf.get(group);
      if (first === undefined) firstOf.set(group, member);
      else joinBuyerGroups(context, first, member);
    }
  }
}

function collectMerged(context: ApplyContext, buyerGroup: string, into: Set<string>): void {
  if (into.has(buyerGroup)) return;
  into.add(buyerGroup);
  for (const merged of itemsOf(context.store, mergedInto(buyerGroup))) collectMerged(context, merged, into);
}

function countPurchase(context: ApplyContext, buyer: string, seller: string, by: 1 | -1): void {
  const buyerGroup = buyerGroupOf(context, buyer);
  if (buyerGroup === buyer) {
    changePurchases(context, buyer, seller, { own: by, held: by });
    return;
  }
  changePurchases(context, buyer, seller, { own: by, held: 0 });
  changePurchases(context, buyerGroup, seller, { own: 0, held: by });
}

/** The list of groups that were ever merged into this one. */
function mergedInto(buyerGroup: string): string {
  return `mergedGroups/${buyerGroup}`;
}

function changePurchases(
  context: ApplyContext,
  address: string,
  seller: string,
  by: { own: number; held: number },
): void {
  const id = `${address}/${seller}`;
  const row = context.store.get("purchases", id);
  const before = row?.held ?? 0;
  const after = before + by.held;
  const own = (row?.own ?? 0) + by.own;
  if (row === null) {
    const { sellers, lastSeller } = agentRow(context, address);
    context.store.insert("purchases", { id, own, held: after, before: lastSeller });
    changeAgent(context, address, { sellers: sellers + 1, lastSeller: seller });
  } else {
    context.store.update("purchases", id, { own, held: after });
  }
  const change = Number(after > 0) - Number(before > 0);
  if (change === 0) return;
  const { distinctBuyers } = agentRow(context, seller);
  updateAgent(context, seller, { distinctBuyers: distinctBuyers + change });
}

/** What an address, or the group of its name, ever bought, by seller. */
function purchasesOf(context: ApplyContext, address: string): ({ seller: string } & Row<"purchases">)[] {
  const purchases: ({ seller: string } & Row<"purchases">)[] = [];
  let seller = agentRow(context, address).lastSeller;
  while (seller !== null) {
    const row = context.store.get("purchases", `${address}/${seller}`);
    if (row === null) throw new Error(`${address} lacks what it bought from ${seller}.`);
    purchases.push({ seller, ...row });
    seller = row.before;
  }
  return purchases;
}
