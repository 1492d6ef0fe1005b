import type { Verification } from "tallystick-capabilities/verification";
import { formatUsdc } from "tallystick-protocol/amount";
import { writeDisclosure } from "tallystick-protocol/audits/disclosure";
import { needsBuyerSignature } from "tallystick-protocol/hire/needsBuyerSignature";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { auditConsent } from "tallystick-protocol/records/listing";
import { ratingToken } from "tallystick-protocol/records/ratingToken";
import { within } from "../deadline.ts";
import { pause } from "../pause.ts";
import type { Conclusion, SignedPayment } from "./buyerContext.ts";
import { endInJournal } from "./endInJournal.ts";
import { failed } from "./hireFailure.ts";
import type { HireResult } from "./hireResult.ts";
import type { Hiring } from "./hiring.ts";
import type { JournalEntry } from "./journal.ts";
import { type Delivery, readDelivery } from "./readAnswer.ts";
import { receiptInLedger, type SignedReceipt } from "./receiptInLedger.ts";
import type { SellerResponse } from "./sellerClient.ts";
import { bothOf, verdict, verifyResult } from "./verifyResult.ts";

/** How long a hire with its result waits for the release, the refund, or a look at the chain, in milliseconds. */
export const SETTLE_MS = 10_000;

/** How long a hire with its result waits for the ledger's answer about its receipt, in milliseconds. */
const RECEIPT_MS = 2_000;

/**
 * For a payment that the chain does not show yet: how long the background work watches the chain, and how often it
 * looks.
 */
const WATCH_MS = 60_000;
const WATCH_EVERY_MS = 2_000;

/** A seller's answer, and the result of the buyer's check. */
export type Judged = {
  status: number;
  /** The code that says why the JSON of the answer was refused, if it was. */
  refused: string | undefined;
  delivery: Delivery | undefined;
  verification: Verification;
  latencyMs: number;
};

/** Reads and verifies a seller's answer. Every hire takes this path, new or resumed. */
export async function judgeDelivery(hiring: Hiring, response: SellerResponse): Promise<Judged> {
  const { context, candidate, order, hireId, startedAt, schemas, sent } = hiring;
  const { listing } = candidate;
  const latencyMs = context.now() - startedAt;
  const delivery = readDelivery(response, {
    seller: listing.agent_id,
    buyer: context.address,
    capability: listing.capability,
    hireId,
    amount: sent?.amount ?? 0n,
    params: order.params,
  });
  const found = delivery
    ? await verifyResult(listing, order.params, delivery.result, { verify: order.verify, schemas }, hireId)
    : verdict("readable", false, "The answer is neither a result nor an answer of the protocol.");
  // A receipt for another hire, another capability or other bytes makes even a good result a failure. An audit would
  // judge something else, or nothing.
  const { otherHire, otherBytes } = delivery ?? {};
  let verification = found;
  if (otherHire !== undefined) verification = bothOf(found, verdict("receipt_hire", false, otherHire));
  if (otherBytes !== undefined)
    verification = bothOf(verification, verdict("receipt_hashes", false, otherBytes));
  return { status: response.status, refused: response.refused?.code, delivery, verification, latencyMs };
}

/**
 * Lets the payment mode act on the result, records the money in the budget, and writes the report for the ledger.
 * What is not settled in time continues in the background. If this process ends before, the next `resume` finishes
 * it.
 *
 * @throws HireFailedError `garbage_answer` for an answer that cannot be read
 */
export async function concludeHire(hiring: Hiring, judged: Judged): Promise<HireResult> {
  const { context, candidate, hireId, jobId, sent: payment } = hiring;
  const { delivery, verification, latencyMs, status, refused } = judged;
  const { listing } = candidate;
  const amount = payment?.amount ?? 0n;
  keepCopy(hiring, judged);
  const looked = receiptOf(hiring, judged);
  const conclusion: Omit<Conclusion, "book"> = payment
    ? await settleInTime(hiring, payment, judged)
    : { money: "none" };
  const escrow = payment && context.modeOf(listing.payment_mode).escrowOf?.(payment);
  if (!delivery) {
    const message = `The seller's answer cannot be read (${status}${refused ? `, ${refused}` : ""}).`;
    const money = conclusion.money === "released" ? "paid" : conclusion.money;
    throw failed(hiring, { code: "garbage_answer", message, money, escrow });
  }
  const written = payment ? Promise.resolve() : report(hiring, judged);
  context.background.add(written.then(() => context.reports.flush()));
  const receiptHash = await looked;
  return {
    result: delivery.result,
    verification,
    hireId,
    jobId,
    listing,
    amount,
    pricePaidUsdc: formatUsdc(amount),
    paymentMode: listing.payment_mode,
    money: conclusion.money,
    tx: delivery.tx ?? null,
    settlementTx: conclusion.tx ?? null,
    escrow: escrow ?? null,
    receipt: delivery.answer?.receipt ?? null,
    receiptIssues: [...delivery.receiptIssues, ...(delivery.otherBytes ? [delivery.otherBytes] : [])],
    receiptHash,
    ratingToken: receiptHash === null ? null : ratingToken(receiptHash, "buyer"),
    latencyMs,
  };
}

/**
 * The hash of the receipt's entry, as the ledger gives it. The hash that the seller names is not used, because it may
 * be of another hire's receipt, or any text. Null if the ledger does not answer in time: a report finds the entry
 * later. Null also if the receipt has issues, if the ledger refuses it, or if the buyer still has to sign it: the
 * ledger gets such a receipt later.
 */
async function receiptOf({ context, order, sent }: Hiring, { delivery }: Judged): Promise<string | null> {
  const signed = delivery?.answer?.signed_receipt;
  if (!sent || !signed || !delivery || delivery.receiptIssues.length > 0) return null;
  if (needsBuyerSignature(signed.body as RecordBody)) return null;
  const found = receiptInLedger(context, signed as SignedReceipt);
  const inTime = within(found, Math.min(RECEIPT_MS, order.deadline.left()));
  return (await inTime.catch(() => undefined)) ?? null;
}

/** Keeps the request and the result. An auditor gets them here if the seller does not show them. */
function keepCopy({ context, candidate, request, hireId }: Hiring, { delivery }: Judged): void {
  if (delivery === undefined || auditConsent(candidate.listing) === null) return;
  const { result } = delivery;
  const keep = async () => context.disclosures.keep(hireId, writeDisclosure({ request, result }));
  context.background.add(keep());
}

/** Settles the hire if there is time. Otherwise the work continues in the background. */
async function settleInTime(
  hiring: Hiring,
  payment: SignedPayment,
  judged: Judged,
): Promise<Omit<Conclusion, "book">> {
  const { context, candidate, order } = hiring;
  const mode = context.modeOf(candidate.listing.payment_mode);
  // The result is there, even if this fails. What is not settled stays in the journal.
  const settled = settle(hiring, payment, judged).catch(() => undefined);
  context.background.add(settled);
  const conclusion = await within(settled, Math.min(SETTLE_MS, order.deadline.left()));
  if (conclusion) return conclusion;
  // The caller gets the result now, and may call `resume` before the rest is done.
  const noted = mode.escrowOf ? noteVerdict(hiring, judged).catch(() => {}) : Promise.resolve();
  // The money may settle while the note is written. Then the note puts back the hire that `settle` has deleted.
  const tidied = noted.then(async () => {
    const late = await settled;
    if (late && late.book !== "open") await endInJournal(context, hiring);
  });
  context.background.add(tidied);
  await within(noted, Math.min(RECEIPT_MS, order.deadline.left()));
  return { money: mode.escrowOf ? "held" : mode.whenSent };
}

/**
 * Writes the report, acts on the verdict, records the money in the budget, and deletes the hire from the journal, in
 * this order. A hire whose money is open stays in the journal.
 */
async function settle(hiring: Hiring, payment: SignedPayment, judged: Judged): Promise<Conclusion> {
  const { context, candidate } = hiring;
  const mode = context.modeOf(candidate.listing.payment_mode);
  await report(hiring, judged).catch(() => {});
  const conclusion = await mode
    .conclude(payment, verdictOf(hiring, judged))
    .catch((): Conclusion => ({ money: mode.escrowOf ? "held" : mode.whenSent, book: "open" }));
  await book(hiring, conclusion);
  if (conclusion.book === "open") {
    await noteVerdict(hiring, judged);
    if (!mode.escrowOf) void watch(hiring, payment).catch(() => {});
  }
  return conclusion;
}

/** The verdict that decides about the money. A result that passed once is the caller's, so it stays good. */
function verdictOf({ isResumed }: Hiring, { verification }: Judged): Verification {
  return isResumed?.isGood ? { ...verification, all_passed: true } : verification;
}

/** Stores in the journal that the result was judged, and whether the money in the escrow is due to the seller. */
async function noteVerdict(hiring: Hiring, judged: Judged): Promise<void> {
  const { context, candidate, jobId } = hiring;
  const mode = context.modeOf(candidate.listing.payment_mode);
  const isGood = mode.escrowOf !== undefined && verdictOf(hiring, judged).all_passed;
  const entry = await context.journal.get<JournalEntry>(`hire/${jobId}`);
  if (entry && !(entry.isReported && entry.isGood === isGood))
    await context.journal.put(`hire/${jobId}`, { ...entry, isReported: true, isGood });
}

/**
 * Records the end of a hire's money in the budget, and then ends the hire in the journal: see {@link endInJournal}. The
 * budget comes first, so that no hire is forgotten before its money is recorded. Does nothing while the money is open.
 */
export async function book(
  { context, hireId, jobId, key }: Pick<Hiring, "context" | "hireId" | "jobId" | "key">,
  { book: how, ...end }: Conclusion,
): Promise<void> {
  if (how === "open") return;
  if (how === "spend") await context.budget?.spend(hireId);
  else await context.budget?.giveBack(hireId);
  if (key !== undefined) await context.kept.settled(key, jobId, end);
  await endInJournal(context, { jobId, key });
  context.verifiers.delete(jobId);
}

/** Looks for a direct payment on the chain for {@link WATCH_MS}, and records its end in the budget. */
async function watch(hiring: Hiring, payment: SignedPayment): Promise<void> {
  const { context, candidate } = hiring;
  const mode = context.modeOf(candidate.listing.payment_mode);
  for (const until = performance.now() + WATCH_MS; performance.now() < until; ) {
    // If the process ends meanwhile, the journal has the hire, and `resume` finishes it.
    await pause(WATCH_EVERY_MS, { mayEnd: true });
    const ending = await mode.isOver(payment).catch(() => false as const);
    if (ending) return await book(hiring, ending);
  }
}

/**
 * Stores what will be reported to the ledger: the buyer's signature under a receipt, if the receipt needs it and agrees
 * with the buyer's verdict, and the buyer's report. For a receipt with issues this is only the report of bad work.
 */
async function report(hiring: Hiring, { delivery, verification, latencyMs }: Judged): Promise<void> {
  const { context, candidate, order, jobId, sent, isResumed, key } = hiring;
  if (!delivery?.answer || isResumed?.isReported) return;
  const { signed_receipt: signed } = delivery.answer;
  // A free hire counts in no figure of a reputation, so only its receipt is reported.
  const isFree = sent === undefined;
  if (!signed) return;
  const { all_passed, checks } = verification;
  // Without this report, a fault in a receipt would hide bad work. The ledger knows which receipt of the hire counts.
  const hasIssues = delivery.receiptIssues.length > 0;
  if (hasIssues && (all_passed || !delivery.isFromSeller || isFree || !order.telemetry)) return;
  // A receipt that the buyer signed decides the hire, and the buyer's own report no longer counts. So the buyer does
  // not sign a receipt that calls a bad result good.
  const claimed = Reflect.get(Object(signed.body.verification), "all_passed");
  const isSigned =
    !hasIssues &&
    delivery.otherBytes === undefined &&
    needsBuyerSignature(signed.body as RecordBody) &&
    (isFree || claimed === all_passed);
  // Without telemetry, the receipt's entry is needed only to look up the hire by its key.
  if (!isSigned && (isFree || !(order.telemetry || key !== undefined))) return;
  await context.reports.add({
    jobId,
    endpoint: candidate.listing.endpoint,
    since: context.now(),
    ...(key !== undefined && !hasIssues && { key }),
    ...(isSigned && { freeReceipt: signed.body as RecordBody }),
    receipt: signed as SignedReceipt,
    ...(!isFree &&
      order.telemetry && {
        telemetry: { verification: { all_passed, checks }, ...(!isResumed && { latencyMs }) },
      }),
  });
}
