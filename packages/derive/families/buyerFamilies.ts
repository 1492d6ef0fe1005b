import { agentRow, updateAgent } from "../agentRow.ts";
import type { ApplyContext } from "../applyContext.ts";
import { append, itemsOf } from "../lists.ts";
import { forEachRow } from "../loadedRows.ts";
import { rational, roundHalfUp } from "../rational.ts";
import type { Row } from "../tables.ts";
import { hadBefore, type Paid } from "./arrivals.ts";
import { takeBrought } from "./brought.ts";
import { countPurchasesOfFamily, familyRow, isEstablished } from "./established.ts";
import { DEEP, familyOf } from "./familyOf.ts";
import { flowId, flowOf, soldFrom, traceBuyer } from "./flows.ts";
import { accountOf, cameThrough, knownMember, memberAsSeller } from "./memberAsSeller.ts";
import { noteSides } from "./noteSides.ts";

/**
 * The most accounts of payees that are stored for one seller and one family. Money paid to further accounts
 * does not count as kept.
 */
const MAX_SOURCES = 8;

type Hire = Row<"hire">;

type Stake = Pick<Hire, "buyerFamily" | "payeeAccount" | "brought">;

/**
 * Three facts about a hire, fixed when it is counted. The first two are the family that it counts for, and the
 * account that got its money. The third is how much of the money the family had brought from outside in an earlier
 * block. Money that came through the seller is the seller's own, so such a hire counts for the seller's family.
 */
export function stakeOf(
  context: ApplyContext,
  { seller, buyer, price, inWindow }: Pick<Hire, "seller" | "buyer" | "price" | "inWindow">,
  { payee, paid }: { payee: string; paid: Paid },
): Stake {
  const own = registeredSeller(context, seller);
  const member = familyOf(context, buyer, placeHere(context));
  noteSides(context, own, member);
  const buyerFamily = cameThrough(context, member, seller) ? own.family : member.family;
  const account = payeeAccount(context, { own, buyerFamily }, payee);
  const stake = { buyerFamily, payeeAccount: account, brought: 0n };
  if (!inWindow) return stake;
  traceBuyer(context, member);
  const mayCount = buyerFamily !== DEEP && buyerFamily !== own.family && mayStay(stake);
  if (!mayCount) return stake;
  const had = hadBefore(context, { buyer, price }, paid);
  return had === 0n ? stake : { ...stake, brought: takeBrought(context, member, had) };
}

/**
 * The account that got the money of a hire: the seller's or the payee's. Null if it is unknown, because the
 * payee never acted or there are too many payees. Such money does not count as kept.
 */
function payeeAccount(
  context: ApplyContext,
  { own, buyerFamily }: Pick<Hire, "buyerFamily"> & { own: Row<"familyMember"> },
  payee: string,
): string | null {
  const member = payee === own.id ? own : memberAsSeller(context, payee, placeHere(context));
  if (member === null) return null;
  const account = accountOf(member);
  const sources =
    context.store.get("buyerFamily", buyerFamilyId(own.id, buyerFamily))?.sources.split(" ") ?? [];
  return sources.length < MAX_SOURCES || sources.includes(account) ? account : null;
}

/** Whether the price of a hire may have stayed with its seller. */
function mayStay({
  buyerFamily,
  payeeAccount: account,
}: Pick<Stake, "buyerFamily" | "payeeAccount">): boolean {
  return account !== null && account !== buyerFamily;
}

/** Counts a hire that enters the window (`by` 1) or leaves it (−1). */
export function changeBuyerFamily(context: ApplyContext, hire: Hire, by: 1 | -1): void {
  const { buyerFamily: family } = hire;
  const seller = registeredSeller(context, hire.seller);
  const row = findOrStart(context, hire.seller, family);
  const changed = {
    ...row,
    hires: row.hires + by,
    rated: row.rated + (hire.outcome === "neutral" ? 0 : by),
    successes: row.successes + (hire.outcome === "success" ? by : 0),
    contested: row.contested + (hire.refundAfterDelivery ? by : 0),
    paid: row.paid + (mayStay(hire) ? BigInt(by) * hire.price : 0n),
    brought: row.brought + BigInt(by) * hire.brought,
    sources: withSources(context, row, [accountOf(seller), hire.payeeAccount]),
  };
  if (family !== DEEP && seller.family !== DEEP && seller.family !== family)
    countPurchasesOfFamily(context, family, seller.family, by);
  context.store.put("buyerFamily", settled(context, changed, seller.family));
}

/** Computes again what a family adds to a seller's figures. */
export function settleBuyerFamily(context: ApplyContext, seller: string, family: string): void {
  const row = context.store.get("buyerFamily", buyerFamilyId(seller, family));
  if (row === null) return;
  const after = settled(context, row, knownMember(context, seller)?.family);
  if (after !== row) context.store.put("buyerFamily", after);
}

/**
 * Returns the row with what the family now adds to its seller's figures. A change is also applied to the seller.
 * Without a change the same row comes back.
 *
 * @param own the seller's own family, if it is known
 */
function settled(
  context: ApplyContext,
  row: Row<"buyerFamily">,
  own: string | undefined,
): Row<"buyerFamily"> {
  const { family } = row;
  const isOther = family !== DEEP && family !== own;
  const isIndependent = isOther && row.hires > 0;
  const after = {
    isIndependent,
    isEstablished: isIndependent && isEstablished(context, family),
    share: isIndependent && row.rated > 0 ? shareOf(row) : null,
    kept: isIndependent ? keptOf(context, row) : 0n,
  };
  return changeSeller(context, row, after);
}

/**
 * Called when the sum of the money that came back from an account changed. Computes the sellers of that account again.
 */
export function flowChanged(context: ApplyContext, account: string, family: string): void {
  forEachRow(itemsOf(context.store, soldFrom(flowId(account, family))), (seller) =>
    settleBuyerFamily(context, seller, family),
  );
}

/**
 * Called when a family became established, or lost this state. Computes again all sellers from which the family ever
 * bought.
 */
export function establishedChanged(context: ApplyContext, family: string): void {
  forEachRow(itemsOf(context.store, boughtBy(family)), (seller) =>
    settleBuyerFamily(context, seller, family),
  );
}

/** 1 if the family took its money back after a delivery, else 0. A seller counts such families. */
function contests({ contested }: Row<"buyerFamily">): number {
  return contested > 0 ? 1 : 0;
}

type Contribution = Pick<Row<"buyerFamily">, "isIndependent" | "isEstablished" | "share" | "kept">;

function changeSeller(
  context: ApplyContext,
  row: Row<"buyerFamily">,
  after: Contribution,
): Row<"buyerFamily"> {
  const isSame =
    row.isIndependent === after.isIndependent &&
    row.isEstablished === after.isEstablished &&
    row.share === after.share &&
    row.kept === after.kept;
  const contested = contests(row) - Number(row.isContesting);
  if (isSame && contested === 0) return row;
  const agent = agentRow(context, row.seller);
  updateAgent(context, row.seller, {
    independentBuyers: agent.independentBuyers + Number(after.isIndependent) - Number(row.isIndependent),
    establishedBuyers: agent.establishedBuyers + Number(after.isEstablished) - Number(row.isEstablished),
    ratingFamilies: agent.ratingFamilies + Number(after.share !== null) - Number(row.share !== null),
    familyShares: agent.familyShares + BigInt(after.share ?? 0) - BigInt(row.share ?? 0),
    kept: agent.kept + after.kept - row.kept,
    contestingFamilies: agent.contestingFamilies + contested,
  });
  return { ...row, ...after, isContesting: row.contested > 0 };
}

/**
 * The share of successes among rated hires, in units of 10⁻⁹, rounded half up. Then the mean over many families needs
 * only a sum.
 */
function shareOf({ successes, rated }: Row<"buyerFamily">): number {
  return Number(roundHalfUp(rational(BigInt(successes), BigInt(rated)), 9));
}

/** What the family brought from outside and paid, minus what came back. Money that circulates is counted once. */
function keptOf(context: ApplyContext, { family, brought, sources }: Row<"buyerFamily">): bigint {
  let kept = brought;
  for (const account of sources.split(" ")) kept -= flowOf(context, account, family);
  return kept > 0n ? kept : 0n;
}

/** The row of a family that buys from a seller. A new row is not written yet. */
function findOrStart(context: ApplyContext, seller: string, family: string): Row<"buyerFamily"> {
  const id = buyerFamilyId(seller, family);
  const known = context.store.get("buyerFamily", id);
  if (known !== null) return known;
  const row: Row<"buyerFamily"> = {
    id,
    seller,
    family,
    hires: 0,
    rated: 0,
    successes: 0,
    contested: 0,
    paid: 0n,
    brought: 0n,
    sources: "",
    isIndependent: false,
    isEstablished: false,
    isContesting: false,
    share: null,
    kept: 0n,
  };
  if (family === DEEP) return row;
  append(context.store, boughtBy(family), seller);
  familyRow(context, family);
  return row;
}

/** Adds accounts to those whose transfers count as coming back. */
function withSources(
  context: ApplyContext,
  { sources, seller, family }: Row<"buyerFamily">,
  accounts: (string | null)[],
): string {
  const known = sources === "" ? [] : sources.split(" ");
  for (const account of accounts) {
    if (account === null || account === family || known.includes(account)) continue;
    known.push(account);
    append(context.store, soldFrom(flowId(account, family)), seller);
  }
  return known.join(" ");
}

/** The family of a seller. A seller whose hire is counted was registered before, or is registered by this event. */
function registeredSeller(
  context: ApplyContext,
  seller: string,
): Row<"familyMember"> | Row<"registeredMember"> {
  // The place after this one, so that a seller that this event registers is found too.
  const { block, log } = placeHere(context);
  const member = memberAsSeller(context, seller, { block, log: log + 1 });
  if (member === null) throw new Error(`${seller} sold something and is not registered.`);
  return member;
}

function placeHere({ at }: ApplyContext) {
  return { block: at.block, log: at.log ?? 0, time: at.time };
}

function buyerFamilyId(seller: string, family: string): string {
  return `${seller}/${family}`;
}

/** The list of sellers that a family ever bought from. */
function boughtBy(family: string): string {
  return `boughtBy/${family}`;
}
