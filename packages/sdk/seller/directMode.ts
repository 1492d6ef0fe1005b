import { type FacilitatorClient, FacilitatorTimeoutError } from "@x402/core/server";
import type { Address } from "tallystick-protocol/address";
import { type Hex, isHex } from "tallystick-protocol/hex";
import { listingPayee } from "tallystick-protocol/records/listing";
import * as z from "zod";
import { networkId, type PaymentNetwork } from "../chain/paymentNetwork.ts";
import type { PaymentPayload, PaymentRequirements } from "../x402/paymentHeaders.ts";
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
  /** Milliseconds since 1970. */
  now?: (() => number) | undefined;
};

/** What a facilitator answers if it has sent the payment, and has not seen it mined in its time (x402). */
const PENDING = "settlement_pending";

/** How often the chain is asked for a payment that it does not show yet, in milliseconds. */
const LOOK_EVERY_MS = 250;

/**
 * Direct settlement (SHP §7.3.2): x402 `exact` with EIP-3009. The payment is verified before the work and settled
 * after it, so work that fails costs the buyer nothing.
 */
export function directMode(parameters: DirectModeParameters): SettlementMode {
  const { network, facilitator, findPayment, shownWithinMs = 5_000, now = Date.now } = parameters;
  return {
    requirements: async ({ listing, price }) => ({
      scheme: "exact",
      network: networkId(network),
      asset: network.token,
      amount: String(price),
      payTo: listingPayee(listing),
      maxTimeoutSeconds: Math.ceil(listing.max_latency_ms / 1000) + SETTLEMENT_SECONDS,
      extra: { name: network.name, version: network.version },
    }),

    check: async ({ payload, requirements, buyer }) => {
      requireSameTerms(payload.accepted, requirements);
      const { from, nonce } = authorizationOf(payload);
      if (from !== buyer) {
        throw new PaymentInvalidError({
          code: "payer_is_not_buyer",
          message: `The payment is from ${from}, but the buyer of the hire is ${buyer}.`,
          hint: "Sign the payment with the wallet of buyer_id.",
        });
      }
      const verified = await ask("verify", () => facilitator.verify(payload, requirements));
      if (!verified.isValid) {
        const code = verified.invalidReason ?? "invalid_payment";
        throw new PaymentInvalidError({ code, message: verified.invalidMessage ?? code });
      }
      return { payer: from, key: `${from}-${nonce}` };
    },

    secure: async () => ({}),

    collect: async ({ payment }) => {
      const { payload, requirements } = payment as NonNullable<Job["payment"]>;
      const settled = await ask("settle", () => facilitator.settle(payload, requirements));
      const isSent = isHex(settled.transaction, 32) && (settled.success || settled.errorReason === PENDING);
      const claimed = isSent ? settled.transaction : undefined;
      if (claimed !== undefined && settled.success && !findPayment) return { tx: claimed as Hex };
      const { from, nonce, validBefore } = authorizationOf(payload);
      const terms = {
        payer: from,
        nonce,
        payee: requirements.payTo.toLowerCase() as Address,
        value: BigInt(requirements.amount),
      };
      const shown = await lookFor(() => findPayment?.(terms), claimed === undefined ? 0 : shownWithinMs);
      if (shown !== undefined) return { tx: shown };
      // Waits for a payment that can still come. An expired payment can no longer come.
      if (claimed !== undefined && now() / 1000 < validBefore + SETTLEMENT_SECONDS) {
        throw new HireRefusedError({
          status: 504,
          code: "settlement_unconfirmed",
          message: "The facilitator says that it has sent the payment, but the chain does not show it yet.",
          hint: "Look the job up again in a moment.",
        });
      }
      const code = settled.errorReason ?? "settlement_failed";
      throw new PaymentInvalidError({ code, message: `The payment could not be settled: ${code}` });
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

/** Calls `look` until it finds something or the time is over. */
async function lookFor(
  look: () => ReturnType<FindPayment> | undefined,
  ms: number,
): Promise<Hex | undefined> {
  for (const until = performance.now() + ms; ; ) {
    const found = await look();
    if (found !== undefined || performance.now() >= until) return found;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
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

async function ask<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const isLate = cause instanceof FacilitatorTimeoutError;
    throw new HireRefusedError({
      status: isLate ? 504 : 502,
      code: "facilitator_unavailable",
      message: `The facilitator did not ${what}: ${cause instanceof Error ? cause.message : String(cause)}`,
      hint: "Send the same request again later.",
      cause,
    });
  }
}
