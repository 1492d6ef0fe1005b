import { agentRow, changeAgent, updateAgent } from "./agentRow.ts";
import type { ApplyContext } from "./applyContext.ts";
import { existingRow } from "./existingRow.ts";
import { append, itemsOf } from "./lists.ts";
import { forEachRow } from "./loadedRows.ts";
import type { Row } from "./tables.ts";

/**
 * The buyer group of an address: the addresses that were ever in one cluster with it. They count as one buyer. The
 * group has the name of one of them.
 *
 * A group has a row `<group>/<seller>` for each seller, with its hires in the window. It also has a list of these
 * sellers, so two groups can be merged. The smaller group is merged into the larger, which keeps merging cheap. The
 * rows also have what each address bought by itself, because a group may have to be split.
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

/** Removes a hire that leaves the window. */
export function removePurchase(context: ApplyContext, buyer: string, seller: string): void {
  countPurchase(context, buyer, seller, -1);
}

/** Makes two addresses count as one buyer, by merging their groups. */
export function joinBuyerGroups(context: ApplyContext, a: string, b: string): void {
  const groups = [buyerGroupOf(context, a), buyerGroupOf(context, b)] as const;
  if (groups[0] === groups[1]) return;
  const [first, second] = [membersOf(context, groups[0]), membersOf(context, groups[1])];
  // The lighter group joins the heavier one. So a merge moves little, and the way from a member to its group stays short.
  const weights = [
    first + agentRow(context, groups[0]).sellers,
    second + agentRow(context, groups[1]).sellers,
  ] as const;
  const [small, large] = weights[0] < weights[1] ? groups : ([groups[1], groups[0]] as const);
  context.store.put("buyerGroup", {
    id: small,
    parent: large,
    members: small === groups[0] ? first : second,
  });
  context.store.put("buyerGroup", { id: large, parent: large, members: first + second });
  append(context.store, mergedInto(large), small);
  forEachRow(purchasesOf(context, small), ({ seller, held }) => {
    if (held === 0) return;
    changePurchases(context, small, seller, { own: 0, held: -held });
    changePurchases(context, large, seller, { own: 0, held });
  });
}

/**
 * Builds the groups of these addresses again: each address starts alone, and joins the addresses with which it still
 * shares one of `groupsOf`.
 */
export function splitBuyerGroups(
  context: ApplyContext,
  addresses: Iterable<string>,
  groupsOf: (address: string) => string[],
): void {
  const members = new Set<string>();
  forEachRow(addresses, (address) => collectMerged(context, buyerGroupOf(context, address), members));
  forEachRow(members, (member) => {
    forEachRow(purchasesOf(context, member), ({ seller, own, held }) => {
      if (own !== held) changePurchases(context, member, seller, { own: 0, held: own - held });
    });
    if (context.store.get("buyerGroup", member) !== null) {
      context.store.update("buyerGroup", member, { parent: member, members: 1 });
    }
  });
  const firstOf = new Map<string, string>();
  forEachRow(members, (member) => {
    for (const group of groupsOf(member)) {
      const first = firstOf.get(group);
      if (first === undefined) firstOf.set(group, member);
      else joinBuyerGroups(context, first, member);
    }
  });
}

function collectMerged(context: ApplyContext, buyerGroup: string, into: Set<string>): void {
  for (let found = [buyerGroup]; found.length > 0; ) {
    const level = new Set(found.filter((it) => !into.has(it)));
    for (const it of level) into.add(it);
    found = [];
    // The members are added one by one, because a call takes at most some 120,000 arguments, and a group may have more
    // members.
    forEachRow(level, (it) => {
      for (const merged of itemsOf(context.store, mergedInto(it))) found.push(merged);
    });
  }
}

/** How many addresses are in a group. Only addresses that were ever joined have a row. */
function membersOf(context: ApplyContext, buyerGroup: string): number {
  return context.store.get("buyerGroup", buyerGroup)?.members ?? 1;
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
    context.store.insert("purchases", { id, own, held: after });
    changeAgent(context, address, { sellers: append(context.store, boughtFrom(address), seller) });
  } else {
    context.store.put("purchases", { ...row, own, held: after });
  }
  const change = Number(after > 0) - Number(before > 0);
  if (change === 0) return;
  const { distinctBuyers } = agentRow(context, seller);
  updateAgent(context, seller, { distinctBuyers: distinctBuyers + change });
}

/** What an address ever bought, by seller. If a group has the address as its name, also what the group bought. */
function purchasesOf(context: ApplyContext, address: string): ({ seller: string } & Row<"purchases">)[] {
  const purchases: ({ seller: string } & Row<"purchases">)[] = [];
  forEachRow(itemsOf(context.store, boughtFrom(address)), (seller) => {
    purchases.push({ seller, ...existingRow(context.store, "purchases", `${address}/${seller}`) });
  });
  return purchases;
}

/**
 * The list of sellers from which an address ever bought. If a group has the address as its name, the list also has the
 * group's sellers.
 */
function boughtFrom(address: string): string {
  return `boughtFrom/${address}`;
}
