import { agentRow, updateAgent } from "../agentRow.ts";
import { isHubNow } from "../agents.ts";
import type { ApplyContext } from "../applyContext.ts";
import { existingRow } from "../existingRow.ts";
import { markAuditable } from "../hires.ts";
import { listingsOf } from "../listings.ts";
import { itemsOf } from "../lists.ts";
import { schedule } from "../schedule.ts";
import type { Row } from "../tables.ts";
import { hasAudits, isOperator } from "./auditRow.ts";
import { anyConsentAt, consentOfListing, everConsented } from "./consents.ts";
import { contestedPpm, isContested } from "./contested.ts";
import { noteAudited } from "./disclosures.ts";
import { isElevated } from "./elevate.ts";
import { failEquivocal } from "./outcomes.ts";
import { enqueue } from "./queues.ts";

/** A hire whose payment is known. `paidAt`: when the buyer paid or deposited. */
export type PaidHire = Pick<Row<"audit">, "id" | "seller" | "buyer" | "amount"> & {
  paymentMode: string;
  paidAt: number;
  /** Whether its buyer took its money back after delivery. */
  isContested: boolean;
};

/** The fields of a hire that decide whose audits apply to it. */
type ConsentedHire = Omit<PaidHire, "id" | "isContested">;

/**
 * The operator whose audits apply to a hire with a known receipt and payment. Null if the seller did not agree to
 * audits. If the agreement is in a listing of the hire's own capability, the receipt must have both hashes and the id
 * of the hire; otherwise the result is null. If the agreement is in another listing, the receipt needs none of these.
 */
export function consentToReceipt(
  context: ApplyContext,
  hire: ConsentedHire,
  receipt: Row<"receipt">,
): Consent | null {
  if (!hasAudits(context) || !everConsented(context, hire.seller)) return null;
  const consent = consentOf(context, hire, receipt.capability);
  return consent === null || (consent.isListed && !isSaid(receipt)) ? null : consent;
}

/**
 * Called when a receipt was joined to its deposit. With a consent (see {@link consentToReceipt}) the hire is eligible
 * now, even if it is not counted yet. So an audit can be done while the money of a held escrow can still go back (SHP
 * §8.3.1). A direct hire is eligible once it is counted.
 */
export function depositReceipted(context: ApplyContext, hire: PaidHire, receipt: Row<"receipt">): void {
  const consent = consentToReceipt(context, hire, receipt);
  if (consent === null || context.store.get("audit", hire.id) !== null) return;
  markAuditable(context, hire.id);
  becomeEligible(context, hire, { ...consent, receipt });
}

/**
 * Called when a hire was counted. The seller has some time for a receipt with both hashes and the hire's id. If no such
 * receipt comes in time, the hire becomes eligible for an audit.
 */
export function awaitDisclosure(
  context: ApplyContext,
  { id, seller, time }: Pick<Row<"hire">, "id" | "seller" | "time">,
): void {
  if (!hasAudits(context) || !everConsented(context, seller)) return;
  if (context.store.get("audit", id) !== null) return;
  const due = Math.max(time + context.params.reconcileSeconds, context.state.time + 1);
  schedule(context, due, "disclosure", id);
}

/** Called when the waiting time of {@link awaitDisclosure} is over. */
export function disclosureWaited(context: ApplyContext, id: string): void {
  if (!hasAudits(context) || context.store.get("audit", id) !== null) return;
  const hire = existingRow(context.store, "hire", id);
  const receipt = hire.receipt === null ? null : context.store.get("receipt", hire.receipt);
  if (receipt !== null && isSaid(receipt)) return;
  const escrow = hire.escrowId === null ? null : context.store.get("escrow", hire.escrowId);
  const paid = {
    ...hire,
    paidAt: escrow?.depositedTime ?? hire.time,
    isContested: escrow !== null && isContested(escrow),
  };
  const consent = consentOf(context, paid, hire.capability);
  if (consent === null) return;
  markAuditable(context, id);
  becomeEligible(context, paid, { ...consent, receipt, isListed: false });
}

/** The form of the id that buyer and seller compute for a hire: 32 bytes. */
const HIRE_ID = /^0x[0-9a-f]{64}$/;

/**
 * Whether a receipt has all that an auditor compares the work with: the hashes of params and result, and an id of the
 * hire. No work matches an id of another form, so a seller could avoid every verdict with such an id.
 */
function isSaid({ hireId, paramsHash, resultHash }: Row<"receipt">): boolean {
  return HIRE_ID.test(hireId) && paramsHash !== null && resultHash !== null;
}

/**
 * The operator to whose audits a seller agreed, whether a listing of the hire's own capability says so, and
 * under which version of the verification.
 */
export type Consent = { operator: string; isListed: boolean; version: string };

/**
 * The audits to which the seller agreed for this hire. The listing for this capability and payment mode decides. If
 * the seller lists no such capability, any of its listings can agree. Otherwise a seller could avoid audits with an
 * invented name.
 */
function consentOf(
  context: ApplyContext,
  { seller, buyer, amount, paymentMode, paidAt }: ConsentedHire,
  capability: string | null,
): Consent | null {
  // A pool is a hub: nothing that it buys is a hire.
  if (amount < BigInt(context.params.minHireAtomic)) return null;
  if (isHubNow(context, buyer) || isHubNow(context, seller)) return null;
  const listing =
    capability === null ? null : context.store.get("listing", `${seller}/${capability}/${paymentMode}`);
  const isListed = listing !== null;
  if (!isListed && capability !== null && listsOtherwise(context, seller, capability)) return null;
  const operator = isListed
    ? consentOfListing(context.store, listing, paidAt)
    : anyConsentAt(context.store, seller, paidAt);
  if (operator === null || !isOperator(context, operator)) return null;
  return { operator, isListed, version: listing?.verificationVersion ?? "v0" };
}

/** Whether a seller lists a capability in another payment mode. */
function listsOtherwise(context: ApplyContext, seller: string, capability: string): boolean {
  for (const id of itemsOf(context.store, listingsOf(seller)))
    if (id.startsWith(`${seller}/${capability}/`)) return true;
  return false;
}

/** Makes a hire eligible for an audit. */
export function becomeEligible(
  context: ApplyContext,
  { id, seller, buyer, amount, isContested }: Omit<PaidHire, "paymentMode" | "paidAt">,
  { operator, isListed, version, receipt }: Consent & { receipt: Row<"receipt"> | null },
): void {
  const capability = receipt?.capability ?? null;
  const rate = rateOf(context, { seller, capability, version });
  const ppm = isContested ? contestedPpm(context, { buyer, seller, amount }, rate) : rate;
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
  context.store.insert("audit", audit);
  const { auditsEligible } = agentRow(context, seller);
  updateAgent(context, seller, { auditsEligible: auditsEligible + 1 });
  if (receipt !== null && noteAudited(context, receipt, id)) failEquivocal(context, audit);
  else enqueue(context, "sample", { hire: id, operator, ppm });
}

/**
 * The rate in force, in parts per million: the rate of the capability if it has one, and else the common rate. After
 * a rollback, hires of the seller and of its cluster have at least the elevated rate for a time.
 */
function rateOf(
  context: ApplyContext,
  { seller, capability, version }: { seller: string; capability: string | null; version: string },
): number {
  const { audit } = context.params;
  const rate = (capability === null ? undefined : audit.rates[capability]) ?? audit.ratePpm;
  return rate < audit.elevatedPpm && isElevated(context, seller, version) ? audit.elevatedPpm : rate;
}
