import { agentRow, findAgent, updateAgent } from "../agentRow.ts";
import type { ApplyContext } from "../applyContext.ts";
import { markAuditable } from "../hires.ts";
import { listingsOf } from "../listings.ts";
import { itemsOf } from "../lists.ts";
import { schedule } from "../schedule.ts";
import type { Row } from "../tables.ts";
import { isHubOrEscrow } from "../wallets.ts";
import { hasAudits, isOperator } from "./auditRow.ts";
import { anyConsentAt, consentOfListing, everConsented } from "./consents.ts";
import { contestedPpm, isContested } from "./contested.ts";
import { isEquivocal } from "./disclosures.ts";
import { isElevated } from "./elevate.ts";
import { failEquivocal } from "./outcomes.ts";
import { enqueue } from "./queues.ts";

/** A hire once its receipt and its payment are known; `paidAt`: when the buyer paid or deposited. */
export type PaidHire = Pick<Row<"audit">, "id" | "seller" | "buyer" | "amount"> & {
  paymentMode: string;
  paidAt: number;
  /** Whether its buyer took its money back after delivery. */
  isContested: boolean;
};

/** What is needed to tell whose audits the seller of a hire agreed to. */
type ConsentedHire = Omit<PaidHire, "id" | "isContested">;

/**
 * Whose audits apply to a hire whose receipt was joined to its payment or deposit. Null without a consent, or without both
 * hashes.
 */
export async function consentToReceipt(
  context: ApplyContext,
  hire: ConsentedHire,
  receipt: Row<"receipt">,
): Promise<Consent | null> {
  if (!hasAudits(context) || !(await everConsented(context, hire.seller))) return null;
  const consent = await consentOf(context, hire, receipt.capability);
  return consent === null || (consent.isListed && !isSaid(receipt)) ? null : consent;
}

/**
 * A receipt was joined to its deposit. With both hashes and a consent the hire is eligible now, counted or not, so that the
 * money of a held escrow can still go back (SHP §8.3.1). A direct hire is eligible once it is counted.
 */
export async function depositReceipted(
  context: ApplyContext,
  hire: PaidHire,
  receipt: Row<"receipt">,
): Promise<void> {
  const consent = await consentToReceipt(context, hire, receipt);
  if (consent === null || (await context.store.get("audit", hire.id)) !== null) return;
  await markAuditable(context, hire.id);
  await becomeEligible(context, hire, { ...consent, receipt });
}

/** A hire was counted. If nothing says by then what was done, that silence becomes eligible after the waiting time. */
export async function awaitDisclosure(
  context: ApplyContext,
  { id, seller, time }: Pick<Row<"hire">, "id" | "seller" | "time">,
): Promise<void> {
  if (!hasAudits(context) || !(await everConsented(context, seller))) return;
  if ((await context.store.get("audit", id)) !== null) return;
  const due = Math.max(time + context.params.reconcileSeconds, context.state.time + 1);
  await schedule(context, due, "disclosure", id);
}

/** The waiting time is over. */
export async function disclosureWaited(context: ApplyContext, id: string): Promise<void> {
  if (!hasAudits(context) || (await context.store.get("audit", id)) !== null) return;
  const hire = await context.store.get("hire", id);
  if (hire === null) throw new Error(`There is no hire ${id}.`);
  const receipt = hire.receipt === null ? null : await context.store.get("receipt", hire.receipt);
  if (receipt !== null && isSaid(receipt)) return;
  const escrow = hire.escrowId === null ? null : await context.store.get("escrow", hire.escrowId);
  const paid = {
    ...hire,
    paidAt: escrow?.depositedTime ?? hire.time,
    isContested: escrow !== null && isContested(escrow),
  };
  const consent = await consentOf(context, paid, hire.capability);
  if (consent === null) return;
  await markAuditable(context, id);
  await becomeEligible(context, paid, { ...consent, receipt, isListed: false });
}

function isSaid({ paramsHash, resultHash }: Row<"receipt">): boolean {
  return paramsHash !== null && resultHash !== null;
}

/** Whose audits, by a listing of the capability or by another one, and under which version of its verification. */
export type Consent = { operator: string; isListed: boolean; version: string };

/**
 * Whose audits the seller agreed to for this hire: by the listing of its capability and payment mode. If the seller lists
 * no such capability, any of its listings counts, since otherwise an invented name would avoid audits.
 */
async function consentOf(
  context: ApplyContext,
  { seller, buyer, amount, paymentMode, paidAt }: ConsentedHire,
  capability: string | null,
): Promise<Consent | null> {
  // A pool is a hub: nothing that it buys is a hire.
  if (amount < BigInt(context.params.minHireAtomic)) return null;
  if ((await isPlace(context, buyer)) || (await isPlace(context, seller))) return null;
  const listing =
    capability === null ? null : await context.store.get("listing", `${seller}/${capability}/${paymentMode}`);
  const isListed = listing !== null;
  if (!isListed && capability !== null && (await listsOtherwise(context, seller, capability))) return null;
  const operator = isListed
    ? await consentOfListing(context.store, listing, paidAt)
    : await anyConsentAt(context.store, seller, paidAt);
  if (operator === null || !isOperator(context, operator)) return null;
  return { operator, isListed, version: listing?.verificationVersion ?? "v0" };
}

/** Whether an address is a hub or an escrow now. An agent's row says so itself. */
async function isPlace(context: ApplyContext, address: string): Promise<boolean> {
  return (await findAgent(context, address))?.isHub ?? isHubOrEscrow(context, address);
}

/** Whether a seller lists a capability in another payment mode. */
async function listsOtherwise(context: ApplyContext, seller: string, capability: string): Promise<boolean> {
  for await (const id of itemsOf(context.store, listingsOf(seller)))
    if (id.startsWith(`${seller}/${capability}/`)) return true;
  return false;
}

/** A hire without an audit may be drawn from here on. */
export async function becomeEligible(
  context: ApplyContext,
  { id, seller, buyer, amount, isContested }: Omit<PaidHire, "paymentMode" | "paidAt">,
  { operator, isListed, version, receipt }: Consent & { receipt: Row<"receipt"> | null },
): Promise<void> {
  const capability = receipt?.capability ?? null;
  const rate = await rateOf(context, { seller, capability, version });
  const ppm = isContested ? await contestedPpm(context, { buyer, seller, amount }, rate) : rate;
  const audit: Row<"audit"> = {
    id,
    hire: id,
    operator,
    capability,
    verificationVersion: version,
    seller,
    buyer,
    amount,
    receipt: receipt?.id ?? null,
    paramsHash: receipt?.paramsHash ?? null,
    resultHash: receipt?.resultHash ?? null,
    isDisclosed: isListed,
    ppm,
    cause: isContested ? "contested" : "sample",
    status: "eligible",
    reason: null,
    round: 0,
    attempt: 0,
    verdicts: "",
    operatorFails: 0,
    unassignedSince: null,
    eligibleBlock: context.at.block,
    eligibleTime: context.at.time,
    drawnBlock: null,
    drawnTime: null,
    closedTime: null,
    mode: null,
    decision: null,
    decisionRecord: null,
    history: null,
    isRefundFalse: false,
    canary: null,
    counted: null,
  };
  await context.store.insert("audit", audit);
  const { auditsEligible } = await agentRow(context, seller);
  await updateAgent(context, seller, { auditsEligible: auditsEligible + 1 });
  if (receipt !== null && (await isEquivocal(context, receipt, id))) await failEquivocal(context, audit);
  else await enqueue(context, "sample", { hire: id, operator, ppm });
}

/**
 * The rate in force, in parts per million: the capability's own, else the common one. For a time after a hire of its
 * seller, or of its cluster, was rolled back, at least the elevated rate.
 */
async function rateOf(
  context: ApplyContext,
  { seller, capability, version }: { seller: string; capability: string | null; version: string },
): Promise<number> {
  const { audit } = context.params;
  const rate = (capability === null ? undefined : audit.rates[capability]) ?? audit.ratePpm;
  return rate < audit.elevatedPpm && (await isElevated(context, seller, version)) ? audit.elevatedPpm : rate;
}
