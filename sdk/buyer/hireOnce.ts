import { formatUsdc } from "../../protocol/amount.ts";
import type { CapabilityOutput } from "../../protocol/capabilities/capabilityTypes.ts";
import type { Verification } from "../../protocol/capabilities/verification.ts";
import { TallystickError } from "../../protocol/errors.ts";
import type { Hex } from "../../protocol/hex.ts";
import { acceptedSchema, type ReceiptSummary } from "../../protocol/hire/hireAnswer.ts";
import { hireId as hireIdOf, jobId as jobIdOf } from "../../protocol/hire/hireIds.ts";
import { type HireRequest, signHireRequest } from "../../protocol/hire/hireRequest.ts";
import { PROTOCOL } from "../../protocol/hire/protocolVersion.ts";
import type { RecordBody } from "../../protocol/json/recordBody.ts";
import type { Listing } from "../../protocol/records/listing.ts";
import { type EscrowOfHire, HireFailedError, type MoneyState } from "../errors.ts";
import { requirePublicUrl } from "../publicUrl.ts";
import { type PaymentRequired, paymentHeaders, readRequired } from "../x402/paymentHeaders.ts";
import type { BuyerContext, BuyerMode, SignedPayment } from "./buyerContext.ts";
import { customVerify } from "./customSchemas.ts";
import type { Candidate } from "./findSellers.ts";
import { failed, MONEY_HINTS, refusedBy } from "./hireFailure.ts";
import type { JournalEntry } from "./journal.ts";
import { type Delivery, readDelivery } from "./readAnswer.ts";
import { countersign, reportHire } from "./report.ts";
import {
  createSellerClient,
  type SellerClientRequest,
  type SellerResponse,
  UnreachableError,
} from "./sellerClient.ts";
import { type Verify, verdict, verifyResult } from "./verifyResult.ts";

/** What is asked of one seller. */
export type Order = {
  params: { [key: string]: unknown };
  maxPrice: bigint;
  maxLatencyMs: number;
  callbackUrl?: string | undefined;
  quoteToken?: string | undefined;
  verify?: Verify | undefined;
  signal?: AbortSignal | undefined;
  /** Whether to tell the ledger what was measured. */
  telemetry: boolean;
};

/** A hire that came to its end. Amounts are atomic units; the result has the type of its capability. */
export type HireResult<Id extends string = string> = {
  result: CapabilityOutput<Id>;
  /** The buyer's own check of the result. */
  verification: Verification;
  hireId: Hex;
  jobId: string;
  listing: Listing;
  /** What was signed for: 0 for a free call. */
  amount: bigint;
  pricePaidUsdc: string;
  paymentMode: string;
  /** Where the money is: paid, released, refunded, held, or none for a free call. */
  money: MoneyState | "released";
  /** The payment (direct) or the deposit (escrow), by the seller's word. */
  tx: Hex | null;
  /** The release or refund, in escrow mode. */
  settlementTx: Hex | null;
  /** Where the money went first, in escrow mode. */
  escrow: EscrowOfHire | null;
  receipt: ReceiptSummary | null;
  /** What is wrong with the seller's receipt; empty when all is well. */
  receiptIssues: string[];
  /** Its entry in the ledger, null while it is not there. */
  receiptHash: string | null;
  ratingToken: string | null;
  /** From the request to the result, in milliseconds. */
  latencyMs: number;
  /** Whether the ledger was told what the buyer found. */
  reported: boolean;
};

/** How long a seller may take to name its terms, and how much longer than promised to answer, in milliseconds. */
const TERMS_MS = 10_000;
const GRACE_MS = 10_000;

/** One hire under way. */
export type Hiring = {
  context: BuyerContext;
  candidate: Candidate;
  order: Order;
  ask: SellerClientRequest;
  request: HireRequest;
  hireId: Hex;
  jobId: string;
  startedAt: number;
};

/**
 * Hires one seller: asks for terms, judges and signs them, gets the result, verifies it, and concludes.
 *
 * @throws PaymentRefusedError, BudgetError: nothing was signed
 * @throws HireFailedError saying where the money is
 */
export async function hireOnce(
  context: BuyerContext,
  candidate: Candidate,
  order: Order,
): Promise<HireResult> {
  const hiring = await holdToSchemas(await begin(context, candidate, order));
  context.underWay.add(hiring.jobId);
  try {
    return await carryOut(hiring);
  } finally {
    context.underWay.delete(hiring.jobId);
  }
}

async function carryOut(hiring: Hiring): Promise<HireResult> {
  const { context, candidate } = hiring;
  const terms = await send(hiring, TERMS_MS + candidate.listing.max_latency_ms, "none");
  if (terms.status === 200) return await conclude(hiring, terms, undefined);
  const asked = terms.status === 402 ? readRequired(terms.headers, terms.body) : undefined;
  if (!asked) throw refusedBy(hiring, terms, "none");

  const mode = context.modeOf(candidate.listing.payment_mode);
  const payment = await sign(hiring, mode, asked.required);
  const headers = paymentHeaders(payment.payload, asked.version, context.network);
  const response = await sendPaid(hiring, headers, mode.whenSent).catch((error) =>
    abandon(hiring, payment, error),
  );
  return await conclude(hiring, response, payment);
}

/** Signs what is asked for and writes it down. When that fails nothing has left this process: the budget gets it back. */
async function sign(hiring: Hiring, mode: BuyerMode, required: PaymentRequired): Promise<SignedPayment> {
  const { context, candidate, order, hireId, jobId } = hiring;
  const { listing, price } = candidate;
  const isAsync = order.callbackUrl !== undefined;
  const agreed = { listing, price, maxPrice: order.maxPrice, network: context.network, isAsync };
  try {
    const payment = await mode.pay(required, agreed, hireId, async (amount) => {
      await context.budget?.reserve(hireId, amount);
    });
    await context.journal.put(`hire/${jobId}`, journalEntry(hiring, payment));
    return payment;
  } catch (error) {
    await context.budget?.giveBack(hireId);
    throw error;
  }
}

/** The same hire, judged by the seller's own schemas when its capability is a custom one. */
async function holdToSchemas(hiring: Hiring): Promise<Hiring> {
  const { ask, candidate, order } = hiring;
  try {
    const verify = await customVerify(ask, candidate.listing.capability, order.params, order.verify);
    return { ...hiring, order: { ...order, verify } };
  } catch (error) {
    if (!(error instanceof TallystickError) || error.code !== "schema_unavailable") throw error;
    const { code, message, hint } = error;
    throw failed(hiring, { code, message, money: "none", ...(hint !== undefined && { hint }) });
  }
}

/** Brings the money of a failed hire back where that can be done, and says where it is. */
async function abandon(
  { context, candidate, hireId, jobId }: Hiring,
  payment: SignedPayment,
  error: unknown,
): Promise<never> {
  if (!(error instanceof HireFailedError)) throw error;
  const mode = context.modeOf(candidate.listing.payment_mode);
  const money = await mode.abandon(payment);
  const escrow = mode.escrowOf?.(payment);
  if (money === "refunded") {
    await context.budget?.giveBack(hireId);
    await context.journal.delete(`hire/${jobId}`);
  }
  const { code, message, seller, cause } = error;
  const hint = MONEY_HINTS[money];
  throw new HireFailedError({ code, message, hint, seller, money, hireId, jobId, escrow, cause });
}

async function begin(context: BuyerContext, candidate: Candidate, order: Order): Promise<Hiring> {
  const { account, address } = context;
  const { listing } = candidate;
  if (!context.devMode) requirePublicUrl(listing.endpoint, "listing.endpoint");
  const nonce = context.random();
  const startedAt = context.now();
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
    ask: createSellerClient(listing, context.fetch, order.signal),
    hireId: hireIdOf(address, nonce),
    jobId: jobIdOf(address, nonce),
  };
}

async function send(
  { ask, request, ...hiring }: Hiring,
  timeoutMs: number,
  money: MoneyState,
): Promise<SellerResponse> {
  try {
    return await ask("/hire", timeoutMs, { body: request });
  } catch (error) {
    if (!(error instanceof UnreachableError)) throw error;
    const code = error.late ? "seller_timeout" : "seller_unreachable";
    throw failed({ ask, request, ...hiring }, { code, message: error.message, money });
  }
}

/** Sends the payment. When the answer is lost the hire is looked up: it is never sent, or paid, twice. */
async function sendPaid(
  hiring: Hiring,
  headers: { [name: string]: string },
  money: MoneyState,
): Promise<SellerResponse> {
  const { ask, request, candidate, order, startedAt, context } = hiring;
  const due = startedAt + candidate.listing.max_latency_ms + GRACE_MS;
  const left = () => due - context.now();
  try {
    const response = await ask("/hire", left(), { body: request, headers });
    if (response.status === 202 || response.status === 409) {
      const accepted = acceptedSchema.safeParse(response.body);
      if (accepted.success) return await lookUp(hiring, accepted.data.job_id, due, money);
    }
    if (response.status === 504) return await lookUp(hiring, hiring.jobId, due, money);
    if (response.status !== 200) throw refusedBy(hiring, response, money);
    return response;
  } catch (error) {
    if (!(error instanceof UnreachableError)) throw error;
    order.signal?.throwIfAborted();
    const until = Math.max(due, context.now() + 2_000);
    return await lookUp(hiring, hiring.jobId, until, money, error);
  }
}

/** Looks a job up until it has ended, or the time is over. */
export async function lookUp(
  hiring: Hiring,
  jobId: string,
  until: number,
  money: MoneyState,
  cause?: UnreachableError,
): Promise<SellerResponse> {
  const { ask, context, order } = hiring;
  for (let wait = 50; ; wait = Math.min(2_000, wait * 2)) {
    order.signal?.throwIfAborted();
    const left = until - context.now();
    const response = await ask(`/jobs/${encodeURIComponent(jobId)}`, Math.max(500, left)).catch(
      (error: unknown) => {
        if (error instanceof UnreachableError) return undefined;
        throw error;
      },
    );
    const status = response?.status === 200 ? Reflect.get(Object(response.body), "status") : undefined;
    if (response && status === "completed") return response;
    if (response && status === "failed") {
      const failure = Object(Reflect.get(Object(response.body), "error"));
      throw failed(hiring, {
        code: String(failure.code ?? "seller_refused"),
        message: `The seller could not do it: ${failure.message ?? "no reason given"}`,
        money,
      });
    }
    if (context.now() + wait > until || response?.status === 404) {
      const message = cause?.message ?? "The seller did not finish in time.";
      throw failed(hiring, {
        code: cause && !cause.late ? "seller_unreachable" : "seller_timeout",
        message,
        money,
      });
    }
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

/** Verifies what came, lets the mode act on it, and tells the ledger. */
export async function conclude(
  hiring: Hiring,
  response: SellerResponse,
  payment: SignedPayment | undefined,
): Promise<HireResult> {
  const { context, candidate, order, hireId, jobId, startedAt } = hiring;
  const { listing } = candidate;
  const latencyMs = context.now() - startedAt;
  const amount = payment?.amount ?? 0n;
  const expected = {
    seller: listing.agent_id,
    buyer: context.address,
    capability: listing.capability,
    hireId,
    amount,
  };
  const mode = context.modeOf(listing.payment_mode);
  const delivery = readDelivery(response, expected);
  const verification = delivery
    ? await verifyResult(listing, order.params, delivery.result, order.verify)
    : verdict("readable", false, "The answer is neither a result nor an answer of the protocol.");
  const conclusion = payment ? await mode.conclude(payment, verification) : { money: "none" as const };
  const escrow = payment && mode.escrowOf?.(payment);
  if (conclusion.money === "refunded" || conclusion.money === "none") await context.budget?.giveBack(hireId);
  if (conclusion.money === "paid" || conclusion.money === "released") await context.budget?.spend(hireId);
  // Money that is still held, or may yet be taken, is for the next `resume` to settle.
  const isOpen = conclusion.money === "held" || conclusion.money === "authorized";
  if (!isOpen) await context.journal.delete(`hire/${jobId}`);
  if (!delivery) {
    const message = `The seller answered what nobody can read (${response.status}).`;
    throw failed(hiring, { code: "garbage_answer", message, money: moneyOf(conclusion.money), escrow });
  }
  const ledger = await ledgerSide(hiring, delivery, {
    latencyMs,
    verification,
    isFree: payment === undefined,
  });
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
    receiptIssues: delivery.receiptIssues,
    latencyMs,
    ...ledger,
  };
}

/** What the hire leaves in the ledger: the receipt, and the buyer's word on it. */
async function ledgerSide(
  { context, ask, jobId, order }: Hiring,
  { answer, receiptIssues }: Delivery,
  facts: { latencyMs: number; verification: Verification; isFree: boolean },
): Promise<{ receiptHash: string | null; ratingToken: string | null; reported: boolean }> {
  if (!answer || receiptIssues.length > 0) return { receiptHash: null, ratingToken: null, reported: false };
  let receiptHash = answer.receipt_hash ?? null;
  let ratingToken = answer.rating_token;
  if (facts.isFree && receiptHash === null && answer.signed_receipt) {
    const body = answer.signed_receipt.body as RecordBody;
    ({ receiptHash, ratingToken } = await countersign(context, ask, answer.job_id ?? jobId, body));
  }
  const reported =
    order.telemetry && receiptHash !== null && (await reportHire(context, { receiptHash, ...facts }));
  return { receiptHash, ratingToken, reported };
}

function journalEntry(hiring: Hiring, payment: SignedPayment): JournalEntry {
  const { request, candidate, hireId, jobId, startedAt, order } = hiring;
  return {
    hireId,
    jobId,
    startedAt,
    listing: candidate.listing,
    request,
    maxPrice: String(order.maxPrice),
    amount: String(payment.amount),
    payload: payment.payload,
    validUntil: payment.validUntil,
  };
}

function moneyOf(money: MoneyState | "released"): MoneyState {
  return money === "released" ? "paid" : money;
}
