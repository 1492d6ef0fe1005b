import { agentRow, updateAgent } from "../agentRow.ts";
import type { ApplyContext } from "../applyContext.ts";
import { append, itemsOf } from "../lists.ts";
import { rational, roundHalfUp } from "../rational.ts";
import type { Row } from "../tables.ts";
import { countPurchasesOfFamily, familyRow, isEstablished } from "./established.ts";
import { accountOf, actedBefore, DEEP, familyOf } from "./familyOf.ts";
import { flowOf, traceBuyer } from "./flows.ts";

/**
 * Most accounts of payees that are stored for one seller and one family. Money paid to further accounts does
 * not count as kept.
 */
const MOST_SOURCES = 8;

type Hire = Row<"hire">;

/**
 * The account that got the money of a hire: the seller's or the payee's. Null if it is unknown, because the
 * payee never acted or there are too many payees. Such money does not count as kept.
 */
export async function payeeAccount(
  context: ApplyContext,
  { seller, buyer }: Pick<Hire, "seller" | "buyer">,
  payee: string,
): Promise<string | null> {
  const here = placeHere(context);
  const act = payee === seller ? here : await actedBefore(context, payee, here);
  if (act === null) return null;
  const account = accountOf(await familyOf(context, payee, act));
  const { family } = await familyOf(context, buyer, here);
  const sources = (await context.store.get("patron", patronId(seller, family)))?.sources.split(" ") ?? [];
  return sources.length < MOST_SOURCES || sources.includes(account) ? account : null;
}

/** A hire enters the window (`by` 1) or leaves it (−1). */
export async function changePatron(context: ApplyContext, hire: Hire, by: 1 | -1): Promise<void> {
  const here = placeHere(context);
  const buyer = await familyOf(context, hire.buyer, here);
  const seller = await familyOf(context, hire.seller, here);
  if (by === 1) await traceBuyer(context, buyer);
  const { family } = buyer;
  const row = await ensurePatron(context, hire.seller, family);
  const mayStay = hire.payeeAccount !== null && hire.payeeAccount !== family;
  await context.store.update("patron", row.id, {
    hires: row.hires + by,
    rated: row.rated + (hire.outcome === "neutral" ? 0 : by),
    successes: row.successes + (hire.outcome === "success" ? by : 0),
    contested: row.contested + (hire.refundAfterDelivery ? by : 0),
    paid: row.paid + (mayStay ? BigInt(by) * hire.price : 0n),
    sources: await withSources(context, row, [accountOf(seller), hire.payeeAccount]),
  });
  if (family !== DEEP && seller.family !== DEEP && seller.family !== family)
    await countPurchasesOfFamily(context, family, seller.family, by);
  await settlePatron(context, hire.seller, family);
}

/** Computes again what a family adds to a seller's figures. */
export async function settlePatron(context: ApplyContext, seller: string, family: string): Promise<void> {
  const row = await context.store.get("patron", patronId(seller, family));
  if (row === null) return;
  const kin = await context.store.get("kin", seller);
  const isOther = family !== DEEP && family !== kin?.family;
  const isIndependent = isOther && row.hires > 0;
  const after = {
    isIndependent,
    isEstablished: isIndependent && (await isEstablished(context, family)),
    share: isIndependent && row.rated > 0 ? shareOf(row) : null,
    kept: isIndependent ? await keptOf(context, row) : 0n,
  };
  await changeSeller(context, row, after);
}

/** The money that came back from an account changed, so the sellers of that account are computed again. */
export async function flowChanged(context: ApplyContext, account: string, family: string): Promise<void> {
  for await (const seller of itemsOf(context.store, soldFrom(account, family)))
    await settlePatron(context, seller, family);
}

/**
 * A family became established, or lost this state, so all sellers that it ever bought from are computed
 * again.
 */
export async function establishedChanged(context: ApplyContext, family: string): Promise<void> {
  for await (const seller of itemsOf(context.store, boughtBy(family)))
    await settlePatron(context, seller, family);
}

/** 1 if the family took its money back after a delivery, else 0. A seller counts such families. */
function contests({ contested }: Row<"patron">): number {
  return contested > 0 ? 1 : 0;
}

type Contribution = Pick<Row<"patron">, "isIndependent" | "isEstablished" | "share" | "kept">;

async function changeSeller(context: ApplyContext, row: Row<"patron">, after: Contribution): Promise<void> {
  const isSame =
    row.isIndependent === after.isIndependent &&
    row.isEstablished === after.isEstablished &&
    row.share === after.share &&
    row.kept === after.kept;
  const contested = contests(row) - Number(row.isContesting);
  if (isSame && contested === 0) return;
  await context.store.update("patron", row.id, { ...after, isContesting: row.contested > 0 });
  const agent = await agentRow(context, row.seller);
  await updateAgent(context, row.seller, {
    independentBuyers: agent.independentBuyers + Number(after.isIndependent) - Number(row.isIndependent),
    establishedBuyers: agent.establishedBuyers + Number(after.isEstablished) - Number(row.isEstablished),
    ratingFamilies: agent.ratingFamilies + Number(after.share !== null) - Number(row.share !== null),
    familyShares: agent.familyShares + BigInt(after.share ?? 0) - BigInt(row.share ?? 0),
    kept: agent.kept + after.kept - row.kept,
    contestingFamilies: agent.contestingFamilies + contested,
  });
}

/**
 * The share of successes among rated hires, in units of 10⁻⁹, rounded half up. The mean over many families is
 * then a plain sum.
 */
function shareOf({ successes, rated }: Row<"patron">): number {
  return Number(roundHalfUp(rational(BigInt(successes), BigInt(rated)), 9));
}

async function keptOf(context: ApplyContext, { family, paid, sources }: Row<"patron">): Promise<bigint> {
  let kept = paid;
  for (const account of sources.split(" ")) kept -= await flowOf(context, account, family);
  return kept > 0n ? kept : 0n;
}

async function ensurePatron(context: ApplyContext, seller: string, family: string): Promise<Row<"patron">> {
  const id = patronId(seller, family);
  const known = await context.store.get("patron", id);
  if (known !== null) return known;
  const row: Row<"patron"> = {
    id,
    seller,
    family,
    hires: 0,
    rated: 0,
    successes: 0,
    contested: 0,
    paid: 0n,
    sources: "",
    isIndependent: false,
    isEstablished: false,
    isContesting: false,
    share: null,
    kept: 0n,
  };
  await context.store.insert("patron", row);
  if (family === DEEP) return row;
  await append(context.store, boughtBy(family), seller);
  await familyRow(context, family);
  return row;
}

/** Adds accounts to those whose transfers count as coming back. */
async function withSources(
  context: ApplyContext,
  { sources, seller, family }: Row<"patron">,
  accounts: (string | null)[],
): Promise<string> {
  const known = sources === "" ? [] : sources.split(" ");
  for (const account of accounts) {
    if (account === null || account === family || known.includes(account)) continue;
    known.push(account);
    await append(context.store, soldFrom(account, family), seller);
  }
  return known.join(" ");
}

function placeHere({ at }: ApplyContext) {
  return { block: at.block, log: at.log ?? 0, time: at.time };
}

function patronId(seller: string, family: string): string {
  return `${seller}/${family}`;
}

/** The list of sellers that a family ever bought from. */
function boughtBy(family: string): string {
  return `patrons/${family}`;
}

/** The list of sellers whose money from a family went to one account: the seller's own, or a payee's. */
function soldFrom(account: string, family: string): string {
  return `sold/${account}/${family}`;
}
