import { type FacilitatorClient, FacilitatorTimeoutError } from "@x402/core/server";
import type { SettleResponse } from "@x402/core/types";
import type { Address } from "tallystick-protocol/address";
import { type Hex, isHex } from "tallystick-protocol/hex";
import { listingPayee } from "tallystick-protocol/records/listing";
import * as z from "zod";
import { networkId, type PaymentNetwork } from "../chain/paymentNetwork.ts";
import { refuseOtherChain } from "../chain/refuseOtherChain.ts";
import { pause } from "../pause.ts";
import type { PaymentPayload, PaymentRequirements } from "../x402/paymentHeaders.ts";
import { shownReason } from "../x402/shownReason.ts";
import type { FindPayment } from "./findPayment.ts";
import type { Job, SettlementMode } from "./job.ts";
import { HireRefusedError, PaymentInvalidError } from "./sellerErrors.ts";

/**
 * A buyer's authorization must stay valid for this many seconds after the work, so that the payment gets into a
 * block.
 */
const SETTLEMENT_SECONDS = 60;

const lower = z.string().transform((text) => text.toLowerCase() as Hex);
const authorizationSchema = z.looseObject({
  signature: z.string(),
  authorization: z.looseObject({
    from: lower,
    to: lower,
    value: z.string(),
    nonce: lower,
    validBefore: z.string(),
  }),
});

export type DirectModeParameters = {
  network: PaymentNetwork;
  facilitator: FacilitatorClient;
  /**
   * Looks payments up on the chain: before a result is delivered, so that nobody has to believe the facilitator,
   * and after a crash during a settlement.
   */
  findPayment?: FindPayment | undefined;
  /** How long the chain may take to show what the facilitator has settled, in milliseconds. Default 5,000. */
  shownWithinMs?: number | undefined;
  /** The chain's clock, in milliseconds since 1970. Default: this machine's, by which facilitators judge too. */
  now?: () => number;
  log?: Log;
};

type Log = (sentence: string, details?: { [key: string]: unknown }) => void;

/** What a facilitator answers if it has sent the payment, and has not seen it mined in its time (x402). */
const PENDING = "settlement_pending";

/**
 * The reasons of a facilitator that refuses a payment before it sends it. "Nonce used" is not among them: the payment
 * itself may have used the nonce.
 */
const NOT_SENT = /insufficient_(funds|balance)$|signature$|valid_(after|before)$/;

/** How often the chain is asked for a payment that it does not show yet, in milliseconds. */
const LOOK_EVERY_MS = 250;

/**
 * Direct settlement (SHP §7.3.2): x402 `exact` with EIP-3009. The payment is verified before the work and settled
 * after it, so work that fails costs the buyer nothing.
 */
export function directMode(parameters: DirectModeParameters): SettlementMode {
  const { network, facilitator, findPayment, shownWithinMs = 5_000, now = Date.now } = parameters;
  const { log = () => {} } = parameters;
  return {
    requirements: async ({ listing, price }) => {
      await refuseOtherChain(findPayment?.requireChain);
      return {
        scheme: "exact",
        network: networkId(network),
        asset: network.token,
        amount: String(price),
        payTo: listingPayee(listing),
        maxTimeoutSeconds: Math.ceil(listing.max_latency_ms / 1000) + SETTLEMENT_SECONDS,
        extra: { name: network.name, version: network.version },
      };
    },

    check: async ({ payload, requirements, offer, buyer }) => {
      requireSameTerms(payload.accepted, requirements);
      const { from, nonce, validBefore } = authorizationOf(payload);
      if (from !== buyer) {
        throw new PaymentInvalidError({
          code: "payer_is_not_buyer",
          message: `The payment is from ${from}, but the buyer of the hire is ${buyer}.`,
          hint: "Sign the payment with the wallet of buyer_id.",
        });
      }
      requireTime(validBefore, Math.ceil((now() + offer.listing.max_latency_ms) / 1000));
      const verified = await ask("verify", log, () => facilitator.verify(onlyChecked(payload), requirements));
      if (!verified.isValid) {
        const { invalidReason: reason, invalidMessage: text } = verified;
        const code = shownReason(reason, "invalid_payment");
        logRest(log, code, { reason, text });
        throw new PaymentInvalidError({ code, message: `The facilitator refuses the payment: ${code}` });
      }
      return { payer: from, key: `${from}-${nonce}` };
    },

    secure: async () => ({}),

    collect: async ({ payment }, { isFirst }) => {
      const { payload, requirements } = payment as NonNullable<Job["payment"]>;
      const settling = ask("settle", log, () => facilitator.settle(onlyChecked(payload), requirements));
      const asked = await settling.catch((error: HireRefusedError) => error);
      const settled = asked instanceof HireRefusedError ? undefined : asked;
      if (isFirst && settled && isNotSent(settled)) {
        const { errorReason: reason, errorMessage: text } = settled;
        const code = shownReason(reason, "settlement_failed");
        logRest(log, code, { reason, text });
        throw new PaymentInvalidError({ code, message: `The payment could not be settled: ${code}` });
      }
      const tx = settled?.transaction;
      const isSent = isHex(tx, 32) && (settled?.success || settled?.errorReason === PENDING);
      if (isSent && settled?.success && !findPayment) return { tx };
      const { from, nonce, validBefore } = authorizationOf(payload);
      const terms = {
        payer: from,
        nonce,
        payee: requirements.payTo.toLowerCase() as Address,
        value: BigInt(requirements.amount),
        validBefore,
      };
      const shown = await lookFor(() => findPayment?.(terms), isSent ? shownWithinMs : 0);
      if (shown !== undefined) return { tx: shown };
      if (asked instanceof HireRefusedError) throw asked;
      // An earlier request, or this one, may have sent the payment. Then it can come until the authorization expires,
      // whatever the facilitator says now.
      throw new HireRefusedError({
        status: 504,
        code: "settlement_unconfirmed",
        message: isSent
          ? "The facilitator says that it has sent the payment, but the chain does not show it yet."
          : `The facilitator did not settle the payment (${asked.errorReason ?? "no reason"}), but it may have been sent before.`,
        hint: "Look the job up again in a moment.",
      });
    },

    // Nothing to do: an authorization that nobody submits moves no money.
    giveUp: async () => {},
  };
}

/** Checks that the buyer accepted the present terms, not earlier ones or its own. */
export function requireSameTerms(accepted: PaymentRequirements, wanted: PaymentRequirements): void {
  for (const field of ["scheme", "network", "asset", "amount", "payTo"] as const) {
    if (String(accepted[field]).toLowerCase() === String(wanted[field]).toLowerCase()) continue;
    throw new PaymentInvalidError({
      code: "terms_differ",
      message: `${field} is ${String(accepted[field]).slice(0, 80)}, but ${wanted[field]} is asked for.`,
      field: `accepted.${field}`,
      hint: "Accept the terms of the PAYMENT-REQUIRED header as they are.",
    });
  }
}

/**
 * Requires that a payment can still be collected when the work may end. A facilitator only checks that it is valid now.
 *
 * @param least unix seconds
 */
function requireTime(validBefore: number, least: number): void {
  if (validBefore >= least) return;
  throw new PaymentInvalidError({
    code: "authorization_too_short",
    message: `The authorization is valid before ${validBefore}, but the work may take until ${least}.`,
    field: "payload.authorization.validBefore",
    hint: "Sign a payment that is valid for maxTimeoutSeconds of the terms.",
  });
}

/**
 * A payment with nothing else than the authorization that was checked here. A facilitator that knows other kinds of
 * payments could settle one that stands next to the authorization.
 */
function onlyChecked(payload: PaymentPayload): PaymentPayload {
  const { signature, authorization } = payload.payload;
  return { ...payload, payload: { signature, authorization } };
}

/** Whether an answer shows that the facilitator did not send the payment for this request. */
function isNotSent({ success, transaction, errorReason }: SettleResponse): boolean {
  return !success && !isHex(transaction, 32) && NOT_SENT.test(errorReason ?? "");
}

/** Calls `look` until it finds something or the time is over. */
export async function lookFor<T>(
  look: () => Promise<T | undefined> | undefined,
  ms: number,
): Promise<T | undefined> {
  for (const until = performance.now() + ms; ; ) {
    const found = await look();
    if (found !== undefined || performance.now() >= until) return found;
    await pause(LOOK_EVERY_MS);
  }
}

/** The authorization in a payment of the scheme `exact`; `validBefore` is unix seconds. */
export function authorizationOf(payload: PaymentPayload): { from: Address; nonce: Hex; validBefore: number } {
  const read = authorizationSchema.safeParse(payload.payload);
  const authorization = read.data?.authorization;
  if (!authorization || !isHex(authorization.from, 20) || !isHex(authorization.nonce, 32)) {
    throw new PaymentInvalidError({
      code: "invalid_payload",
      message: "The payment has no EIP-3009 authorization.",
      hint: "Pay with the scheme exact and EIP-3009.",
    });
  }
  const { from, nonce, validBefore } = authorization;
  return { from, nonce, validBefore: Number(validBefore) || 0 };
}

/** Asks a facilitator. What it says in an error is for the log: it may name an address with a key. */
async function ask<T>(what: string, log: Log, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const isLate = cause instanceof FacilitatorTimeoutError;
    log("The facilitator could not be asked.", { what, error: String(cause) });
    throw new HireRefusedError({
      status: isLate ? 504 : 502,
      code: "facilitator_unavailable",
      message: `The facilitator did not ${what} the payment.`,
      hint: "Send the same request again later.",
      cause,
    });
  }
}

/** Logs what a facilitator says of a payment that it refuses, and what the buyer is not told. */
function logRest(
  log: Log,
  told: string,
  said: { reason: string | undefined; text: string | undefined },
): void {
  if (said.reason !== told || said.text !== undefined) log("The facilitator refuses a payment.", said);
}
