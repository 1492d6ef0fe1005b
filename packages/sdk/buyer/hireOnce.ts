import { formatUsdc } from "tallystick-protocol/amount";
import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { acceptedSchema } from "tallystick-protocol/hire/hireAnswer";
import { hireId as hireIdOf, jobId as jobIdOf } from "tallystick-protocol/hire/hireIds";
import { signHireRequest } from "tallystick-protocol/hire/hireRequest";
import { PROTOCOL } from "tallystick-protocol/hire/protocolVersion";
import { abortable, DeadlineError, within } from "../deadline.ts";
import { HireFailedError, type MoneyState, sellerWords } from "../errors.ts";
import { pause } from "../pause.ts";
import { requirePublicUrl } from "../publicUrl.ts";
import { type PaymentRequired, paymentHeaders, readRequired } from "../x402/paymentHeaders.ts";
import type { BuyerContext, BuyerMode, SignedPayment } from "./buyerContext.ts";
import { book, concludeHire, judgeDelivery, SETTLE_MS } from "./concludeHire.ts";
import { schemasFor } from "./customSchemas.ts";
import type { Candidate } from "./findSellers.ts";
import { hiredBefore } from "./hiredBefore.ts";
import { failed, MONEY_HINTS, refusedBy } from "./hireFailure.ts";
import type { HireResult } from "./hireResult.ts";
import type { Hiring, Order } from "./hiring.ts";
import type { JournalEntry } from "./journal.ts";
import { createSellerClient, type SellerResponse, UnreachableError } from "./sellerClient.ts";

/** How long a seller may take to send its terms, in milliseconds. */
const TERMS_MS = 10_000;

/**
 * Hires one seller: asks for terms, checks and signs them, gets the result, verifies it, and concludes. Waits for
 * nothing that comes after the result, and never beyond the deadline.
 *
 * @throws PaymentRefusedError, BudgetError: nothing was signed
 * @throws HireFailedError saying where the money is
 * @throws the reason of the deadline's signal, if no payment was sent yet
 */
export async function hireOnce(
  context: BuyerContext,
  candidate: Candidate,
  order: Order,
): Promise<HireResult> {
  order.onProgress?.("asking");
  const hiring = await abortable(begin(context, candidate, order), order.deadline.signal);
  context.underWay.add(hiring.jobId);
  if (order.verify) context.verifiers.set(hiring.jobId, order.verify);
  try {
    const response = await abortable(obtain(hiring), order.deadline.signal);
    order.onProgress?.("verifying");
    const judged = await abortable(judgeDelivery(hiring, response), order.deadline.signal);
    order.onProgress?.("settling");
    return await concludeHire(hiring, judged);
  } catch (error) {
    throw stopped(hiring, error);
  } finally {
    context.underWay.delete(hiring.jobId);
    if (!hiring.sent) context.verifiers.delete(hiring.jobId);
  }
}

/** The error of a hire that was stopped in the middle. After its payment was sent, it says where the money is. */
function stopped(hiring: Hiring, error: unknown): unknown {
  const { context, candidate, order, sent } = hiring;
  const { signal } = order.deadline;
  if (!signal.aborted || error !== signal.reason) return error;
  if (!sent) {
    // If the time is over while the wallet still signs, nothing is sent.
    if (!hiring.isSigned) context.background.add(undo(hiring));
    return error;
  }
  const mode = context.modeOf(candidate.listing.payment_mode);
  const isLate = error instanceof DeadlineError;
  return failed(hiring, {
    code: isLate ? error.code : "aborted",
    message: isLate ? error.message : "The caller stopped the hire after its payment was sent.",
    money: mode.whenSent,
    escrow: mode.escrowOf?.(sent),
    cause: error,
  });
}

/** Asks for terms, pays and gets the answer. */
async function obtain(hiring: Hiring): Promise<SellerResponse> {
  const { context, candidate, order } = hiring;
  const { listing } = candidate;
  await holdToSchemas(hiring);
  // The first answer of a free call is its result.
  const termsMs = listing.first_call_free ? hiring.left() : Math.min(hiring.left(), TERMS_MS);
  const terms = await send(hiring, termsMs);
  if (terms.status === 200) return terms;
  if (order.keyed && isUsedNonce(terms, hiring.jobId)) {
    const { hireId, jobId } = hiring;
    const isPaid = listing.payment_mode === "direct" && (await isShownPaid(hiring));
    // Any seller can say that it knows a nonce, even a new one. It is believed only if this process may have lost
    // records, or if the chain shows the payment.
    if (isPaid || order.earlier) {
      const money = isPaid ? "paid" : "authorized";
      throw hiredBefore({ seller: listing.agent_id, hireId, jobId, money });
    }
  }
  const asked = terms.status === 402 ? readRequired(terms.headers, terms.body) : undefined;
  if (!asked) throw refusedBy(hiring, terms, "none");

  const earlier = await order.earlier;
  if (earlier) throw hiredBefore(earlier);
  // A chain that does not answer must not use up the seller's time.
  await within(Promise.resolve(context.refuseOtherChain?.()), hiring.left() / 4);
  const mode = context.modeOf(listing.payment_mode);
  const payment = await sign(hiring, mode, asked.required);
  const headers = paymentHeaders(payment.payload, asked.version, context.network);
  if (order.deadline.signal.aborted) await inBackground(hiring, undo(hiring));
  order.deadline.signal.throwIfAborted();
  hiring.sent = payment;
  order.onProgress?.("working");
  return await sendPaid(hiring, headers, mode.whenSent).catch((error) => abandon(hiring, payment, error));
}

/**
 * Signs the payment that is asked for. Stores the hire in the journal before that, and the payment after that. If
 * any of this fails, nothing has left this process, and the budget gets the amount back.
 */
async function sign(hiring: Hiring, mode: BuyerMode, required: PaymentRequired): Promise<SignedPayment> {
  const { context, candidate, order, hireId, jobId } = hiring;
  const { listing, price } = candidate;
  const isAsync = order.callbackUrl !== undefined;
  const agreed = { listing, price, maxPrice: order.maxPrice, network: context.network, isAsync };
  const entry = journalEntry(hiring);
  const undone = async (error: unknown): Promise<never> => {
    await inBackground(hiring, undo(hiring));
    throw error;
  };
  const signing = mode.pay(required, agreed, hireId, async (amount) => {
    // An entry without a payment tells a later process to give the reserved amount back.
    await context.journal.put(`hire/${jobId}`, entry);
    await context.budget?.reserve(hireId, amount);
  });
  const payment = await signing.catch(undone);
  if (order.deadline.signal.aborted) return await undone(order.deadline.signal.reason);
  // From here on this function undoes what it stores. Another undoing could delete the hire before its key has signed.
  hiring.isSigned = true;
  await inBackground(hiring, storeSigned(hiring, payment, entry).catch(undone));
  return payment;
}

/** Stores a signed payment in the journal and under its key. @throws the reason why it must not be sent */
async function storeSigned(hiring: Hiring, payment: SignedPayment, entry: JournalEntry): Promise<void> {
  const { context, candidate, order, hireId, jobId } = hiring;
  const { payload, amount, validUntil } = payment;
  const signed = { payload, amount: String(amount), validUntil };
  await context.journal.put(`hire/${jobId}`, { ...entry, signed } satisfies JournalEntry);
  await order.keyed?.signed({ hireId, jobId, seller: candidate.listing.agent_id });
  order.deadline.signal.throwIfAborted();
  // A machine that sleeps stops the deadline's clock. Another process may have given the reserved amount back
  // meanwhile.
  if (context.now() > entry.signsUntil) throw signedTooLate();
}

/** Does work that goes on when the caller has stopped waiting. */
async function inBackground({ context }: Hiring, work: Promise<void>): Promise<void> {
  context.background.add(work);
  await work;
}

function signedTooLate(): DeadlineError {
  return new DeadlineError({
    code: "deadline_passed",
    message: "The signature came after the end of the call, so it was not sent.",
    hint: "Nothing was paid. Call again.",
  });
}

/**
 * Undoes the preparations for a payment that was never sent. The key comes first: a process that is killed in between leaves
 * no key that has signed and no journal that knows of it.
 */
async function undo({ context, order, hireId, jobId }: Hiring): Promise<void> {
  await order.keyed?.unsigned();
  await context.budget?.giveBack(hireId);
  await context.journal.delete(`hire/${jobId}`);
}

/** Gets the seller's own schemas for a custom capability, and checks the params against them. */
async function holdToSchemas(hiring: Hiring): Promise<void> {
  const { ask, candidate, order } = hiring;
  const { capability } = candidate.listing;
  try {
    hiring.schemas = await schemasFor(ask, capability, order.params, order.verify !== undefined);
  } catch (error) {
    if (!(error instanceof TallystickError) || error.code !== "schema_unavailable") throw error;
    const { code, message, hint, cause } = error;
    const words = cause instanceof InvalidInputError ? sellerWords({ text: cause.message }) : undefined;
    throw failed(hiring, { code, message, money: "none", words, ...(hint !== undefined && { hint }) });
  }
}

/**
 * Brings the money of a failed hire back if that can be done in time. Always throws: the error says where the money
 * is.
 */
async function abandon(hiring: Hiring, payment: SignedPayment, error: unknown): Promise<never> {
  if (!(error instanceof HireFailedError)) throw error;
  const { context, candidate, order, hireId, jobId } = hiring;
  const mode = context.modeOf(candidate.listing.payment_mode);
  const bringBack = async (): Promise<MoneyState> => {
    const money = await mode.abandon(payment);
    if (money === "refunded") await book(hiring, { money, book: "giveBack" });
    return money;
  };
  const work = bringBack();
  context.background.add(work);
  const money = (await within(work, Math.min(SETTLE_MS, order.deadline.left()))) ?? mode.whenSent;
  const escrow = mode.escrowOf?.(payment);
  const { code, message, seller, words, cause } = error;
  const hint = MONEY_HINTS[money];
  throw new HireFailedError({ code, message, hint, seller, money, hireId, jobId, escrow, words, cause });
}

async function begin(context: BuyerContext, candidate: Candidate, order: Order): Promise<Hiring> {
  const { account, address } = context;
  const { listing } = candidate;
  if (!context.devMode) requirePublicUrl(listing.endpoint, "listing.endpoint");
  const nonce = order.keyed ? await order.keyed.nextNonce(listing) : context.random();
  const startedAt = context.now();
  const over = performance.now() + order.maxLatencyMs;
  const request = await signHireRequest(
    {
      protocol: PROTOCOL,
      buyer_id: address,
      seller_id: listing.agent_id,
      capability: listing.capability,
      params: order.params,
      max_price_usdc: formatUsdc(order.maxPrice),
      max_latency_ms: order.maxLatencyMs,
      preferred_payment_mode: listing.payment_mode,
      callback_url: order.callbackUrl ?? null,
      nonce,
      issued_at: Math.floor(startedAt / 1000),
      ...(context.budget?.token && { budget_token: context.budget.token }),
      ...(order.quoteToken !== undefined && { quote_token: order.quoteToken }),
    },
    { account },
  );
  return {
    context,
    candidate,
    order,
    request,
    startedAt,
    ask: createSellerClient(listing, context.sellerFetch, order.deadline.signal),
    left: () => Math.min(order.deadline.left(), Math.max(0, over - performance.now())),
    hireId: hireIdOf(address, nonce),
    jobId: jobIdOf(address, nonce),
    key: order.keyed?.key,
  };
}

async function send(hiring: Hiring, timeoutMs: number): Promise<SellerResponse> {
  try {
    return await hiring.ask("/hire", timeoutMs, { body: hiring.request });
  } catch (error) {
    if (!(error instanceof UnreachableError)) throw error;
    throw unanswered(hiring, error, "none");
  }
}

function unanswered(hiring: Hiring, cause: UnreachableError | undefined, money: MoneyState): HireFailedError {
  const isLate = cause === undefined || cause.late;
  return failed(hiring, {
    code: isLate ? "seller_timeout" : "seller_unreachable",
    message: cause?.message ?? "The seller did not finish in time.",
    money,
    cause,
  });
}

/**
 * Whether the seller refuses because it knows this hire. Then it names the hire's job, whose id follows from the
 * nonce.
 */
function isUsedNonce({ status, body }: SellerResponse, jobId: string): boolean {
  const { code, job_id } = Object(body) as { code?: unknown; job_id?: unknown };
  return status === 409 && code === "duplicate_nonce" && job_id === jobId;
}

/** Whether the chain shows a direct payment of this hire. A chain that does not answer shows none. */
async function isShownPaid({ context, hireId, left }: Hiring): Promise<boolean> {
  const asked = (async () => context.isPaid?.(hireId))().catch(() => false);
  return (await within(asked, Math.min(TERMS_MS, left()))) === true;
}

/** Whether the answer came too late, or from a proxy in front of the seller: a seller gives its refusals a code. */
function isOfGateway({ status, body }: SellerResponse): boolean {
  if (status === 504) return true;
  return (status === 502 || status === 503) && typeof Object(body).code !== "string";
}

/** Sends the payment. If the answer is lost, the hire is looked up. The payment is never sent twice. */
async function sendPaid(
  hiring: Hiring,
  headers: { [name: string]: string },
  money: MoneyState,
): Promise<SellerResponse> {
  const { ask, request, jobId } = hiring;
  try {
    const response = await ask("/hire", hiring.left(), { body: request, headers });
    if (response.status === 202 || response.status === 409) {
      const accepted = acceptedSchema.safeParse(response.body);
      if (accepted.success) return await lookUp(hiring, accepted.data.job_id, money);
    }
    if (isOfGateway(response)) return await lookUp(hiring, jobId, money);
    if (response.status !== 200) throw refusedBy(hiring, response, money);
    return response;
  } catch (error) {
    if (!(error instanceof UnreachableError)) throw error;
    return await lookUp(hiring, jobId, money, error);
  }
}

/** Looks a job up until it is completed. @throws HireFailedError if it fails, or the time for this seller is over */
export async function lookUp(
  hiring: Hiring,
  jobId: string,
  money: MoneyState,
  cause?: UnreachableError,
): Promise<SellerResponse> {
  const { ask, order, left } = hiring;
  let lost = cause;
  for (let wait = 50; ; wait = Math.min(2_000, wait * 2)) {
    if (left() <= 0) throw unanswered(hiring, lost, money);
    const response = await ask(`/jobs/${encodeURIComponent(jobId)}`, left()).catch((error: unknown) => {
      if (!(error instanceof UnreachableError)) throw error;
      lost ??= error;
      return undefined;
    });
    const status = response?.status === 200 ? Reflect.get(Object(response.body), "status") : undefined;
    if (response && status === "completed") return response;
    if (response && status === "failed") {
      const failure = Object(Reflect.get(Object(response.body), "error"));
      throw failed(hiring, {
        code: "seller_refused",
        message: "The seller could not do the work.",
        money,
        words: sellerWords({ code: failure.code, text: failure.message }),
      });
    }
    if (left() <= wait || response?.status === 404) throw unanswered(hiring, lost, money);
    await pause(wait, { signal: order.deadline.signal });
  }
}

function journalEntry(hiring: Hiring): JournalEntry {
  const { request, candidate, hireId, jobId, startedAt, order, schemas } = hiring;
  return {
    hireId,
    jobId,
    startedAt,
    listing: candidate.listing,
    request,
    maxPrice: String(order.maxPrice),
    judge: order.verify ? "caller" : (schemas ?? "standard"),
    telemetry: order.telemetry,
    ...(order.keyed && { key: order.keyed.key }),
    signsUntil: Math.ceil(hiring.context.now() + order.deadline.left()),
  };
}
