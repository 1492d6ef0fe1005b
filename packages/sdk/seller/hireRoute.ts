import type { Context } from "hono";
import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import { hireId, jobId } from "tallystick-protocol/hire/hireIds";
import { paramsHash } from "tallystick-protocol/hire/paramsHash";
import { readForeignJson } from "tallystick-protocol/json/foreignJson";
import { networkId, type PaymentNetwork, shortNetworkName } from "../chain/paymentNetwork.ts";
import type { KeyValueStore } from "../store/keyValueStore.ts";
import {
  type PaymentRequired,
  type PaymentRequirements,
  readPayment,
  requiredBodyV1,
  requiredHeaders,
  settledHeaders,
} from "../x402/paymentHeaders.ts";
import type { FreeCalls } from "./freeCalls.ts";
import { type Accepted, acceptRequest, type IntakeParameters, newJob } from "./intake.ts";
import type { Job, SettlementMode } from "./job.ts";
import type { JobRunner } from "./jobRunner.ts";
import { HireRefusedError, PaymentInvalidError } from "./sellerErrors.ts";

export type HireRouteParameters = IntakeParameters & {
  network: PaymentNetwork;
  store: KeyValueStore;
  /**
   * Where the payments to an account are remembered. Sellers with the same payee and the same store share these
   * records.
   */
  paymentsTo: (payee: Address) => KeyValueStore;
  modeOf: (paymentMode: string) => SettlementMode;
  runner: JobRunner;
  freeCalls: FreeCalls;
  /** The most jobs that run at the same time. Further hires get 503. */
  maxRunning: number;
  /** @throws when this address must not be called back */
  checkCallback: (url: string) => void;
  random: () => string;
};

/**
 * `POST /hire` (SHP §7.1). Without a payment it answers 402 with the terms. With a payment it does the work and
 * answers with the result. With a `callback_url` it answers 202 with the id of the job (SHP §7.2).
 */
export async function answerHire(c: Context, parameters: HireRouteParameters): Promise<Response> {
  const { modeOf, freeCalls, network } = parameters;
  const accepted = await acceptRequest(readForeignJson(await c.req.text()), parameters);
  const { request, signed, offer } = accepted;
  if (request.callback_url) parameters.checkCallback(request.callback_url);
  await requireNewNonce(accepted, parameters);
  if (parameters.runner.running() >= parameters.maxRunning) {
    throw new HireRefusedError({
      status: 503,
      code: "busy",
      message: "Too many hires at once.",
      hint: "Send the same request again in a moment. Nothing was charged.",
    });
  }
  const mode = modeOf(offer.listing.payment_mode);
  const requirements = await mode.requirements(offer);
  const headers = { get: (name: string) => c.req.header(name) };
  const payload = readPayment(headers, requirements, network);
  if (payload === undefined) {
    // Only a signed request can use up the buyer's free call. A request that names no seller or no time could come from
    // anybody who once got it.
    const isOwn = signed && request.seller_id !== undefined && request.issued_at !== undefined;
    if (
      offer.listing.first_call_free &&
      isOwn &&
      (await freeCalls.take(request.buyer_id, request.capability))
    ) {
      return await runJob(newJob(accepted, { free: true, ...stamp(parameters) }), undefined, parameters);
    }
    return paymentRequired(c, accepted, requirements, undefined, parameters);
  }
  try {
    if (payload === "malformed") {
      throw new PaymentInvalidError({ code: "malformed_payment", message: "The payment cannot be read." });
    }
    const id = request.nonce === undefined ? undefined : hireId(request.buyer_id, request.nonce);
    const terms = { payload, requirements, offer, buyer: request.buyer_id, hireId: id };
    const { key } = await mode.check(terms);
    await accepted.acceptQuote?.();
    const payment = { payload, requirements };
    const job = newJob(accepted, { free: false, payment, paymentKey: key, ...stamp(parameters) });
    return await runJob(job, key, parameters);
  } catch (error) {
    if (error instanceof PaymentInvalidError) {
      return paymentRequired(c, accepted, requirements, error, parameters);
    }
    throw error;
  }
}

function stamp({ now, random }: HireRouteParameters) {
  return { nowMs: now(), random };
}

/** A nonce that was used is refused, with the id of the job it was used for (SHP §12). */
async function requireNewNonce({ request }: Accepted, { store }: HireRouteParameters): Promise<void> {
  if (request.nonce === undefined) return;
  const id = jobId(request.buyer_id, request.nonce);
  if ((await store.get(`job/${id}`)) !== undefined) throw duplicate(id);
}

function duplicate(id: string): HireRefusedError {
  return new HireRefusedError({
    status: 409,
    code: "duplicate_nonce",
    message: "This nonce was used.",
    field: "nonce",
    hint: `GET /jobs/${id} shows the result of that hire while it is kept; take a fresh nonce for another hire.`,
    details: { job_id: id },
  });
}

async function runJob(job: Job, key: string | undefined, parameters: HireRouteParameters): Promise<Response> {
  const { store, runner } = parameters;
  if (key !== undefined) await claimPayment(job, key, parameters);
  if (!(await store.putNew(`job/${job.id}`, job))) throw duplicate(job.id);
  const run = runner.run(job);
  if (job.callbackUrl !== undefined) {
    const body = {
      protocol: job.protocol,
      job_id: job.id,
      estimated_completion_ms: job.dueAt - job.acceptedAt,
    };
    return Response.json(body, { status: 202, headers: { location: `jobs/${job.id}` } });
  }
  return answerJob(await run, parameters.network);
}

/**
 * Stores which job a payment is for, so that it pays for no other job. This covers the jobs of this seller, and of
 * other sellers with the same payee and store.
 *
 * @throws HireRefusedError `duplicate_nonce`; PaymentInvalidError `payment_replayed`
 */
async function claimPayment(
  job: Job,
  key: string,
  { store, paymentsTo, seller }: HireRouteParameters,
): Promise<void> {
  const payTo = job.payment?.requirements.payTo.toLowerCase() as Address;
  const isShared = job.mode === "direct" && payTo !== seller;
  const payments = isShared ? paymentsTo(payTo) : store;
  const user = isShared ? `${seller}/${job.id}` : job.id;
  if (await payments.putNew(`payment/${key}`, user)) return;
  if ((await payments.get<string>(`payment/${key}`)) !== user) throw replayed();
  // This is the same hire again, or its process was killed before it could store the job.
  if ((await store.get(`job/${job.id}`)) !== undefined) throw duplicate(job.id);
}

function replayed(): PaymentInvalidError {
  return new PaymentInvalidError({
    code: "payment_replayed",
    message: "This payment was used for another hire.",
    hint: "Sign a fresh payment.",
  });
}

/** The status for a job that failed. Any other failure is one of the payment: 402. */
const STATUS_OF_FAILURE = new Map([
  ["too_late", 504],
  ["handler_failed", 500],
  ["own_verification_failed", 500],
  // The deposit could not be sent to the chain, and the buyer is not at fault.
  ["chain_unreachable", 503],
  ["no_gas_money", 503],
  ["relay_refused", 503],
  ["transaction_reverted", 503],
  // The deposit may be in the escrow. 402 would ask the buyer to pay again.
  ["deposit_unconfirmed", 504],
]);

/** The answer to the hire of a job. @throws HireRefusedError when the job failed, or cannot go on for now */
export function answerJob(job: Job, network: PaymentNetwork): Response {
  if (job.stage === "completed") {
    const paid = job.free || job.tx === undefined ? {} : settledHeaders(settlementOf(job, network));
    return Response.json(job.answer, { headers: { ...paid, "cache-control": "no-store" } });
  }
  const { code, message } = job.failure ?? {
    code: "settlement_pending",
    message: "The work is done, but nobody knows yet whether the payment arrived.",
  };
  throw new HireRefusedError({
    status: job.failure === undefined ? 504 : (STATUS_OF_FAILURE.get(code) ?? 402),
    code,
    message,
    details: { job_id: job.id },
  });
}

function settlementOf(job: Job, network: PaymentNetwork) {
  const transaction = job.tx as Hex;
  return { success: true, transaction, network: networkId(network), payer: job.buyer, amount: job.price };
}

/** The 402. It gives the terms in the header (x402 v2), in the body (v1), and as the hint headers of SHP §7.1. */
function paymentRequired(
  c: Context,
  { request, offer }: Accepted,
  requirements: PaymentRequirements,
  error: PaymentInvalidError | undefined,
  { network }: HireRouteParameters,
): Response {
  const required: PaymentRequired = {
    x402Version: 2,
    error: error ? `${error.code}: ${error.message}` : "Payment required",
    resource: {
      url: c.req.url,
      description: `${request.capability}, within ${offer.listing.max_latency_ms} ms`,
      mimeType: "application/json",
    },
    accepts: [requirements],
  };
  const body = {
    ...requiredBodyV1(required, network),
    ...(error && { code: error.code, detail: error.message, hint: error.hint }),
  };
  return Response.json(body, {
    status: 402,
    headers: {
      ...requiredHeaders(required),
      "X-402-Network": shortNetworkName(network),
      "X-402-Address": requirements.payTo,
      "X-402-Amount": requirements.amount,
      "X-402-Capability-Hash": paramsHash(request.params),
    },
  });
}
