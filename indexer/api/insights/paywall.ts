import { type FacilitatorClient, HTTPFacilitatorClient, x402ResourceServer } from "@x402/core/server";
import { ExactEvmScheme } from "@x402/evm/exact/server";
import { paymentMiddleware } from "@x402/hono";
import type { MiddlewareHandler } from "hono";
import type { Address } from "tallystick-protocol/address";

/** What the operator asks for insights. */
export type InsightsPrice = {
  /** Atomic units of the token, for one answer. */
  amount: bigint;
  payTo: Address;
  chainId: number;
  /** With the EIP-712 domain that payers sign for. */
  token: { address: Address; name: string; version: string };
  /** Verifies and settles the payments: a client, or its URL. */
  facilitator: FacilitatorClient | string;
};

/** Longest that a payment may take to settle. */
const SETTLEMENT_SECONDS = 60;

/**
 * Puts every `/v1/insights/*` behind an x402 payment (SHP §9.2: insights have their own pricing). Answers that are errors
 * are not charged.
 */
export function insightsPaywall(price: InsightsPrice): MiddlewareHandler {
  const network = `eip155:${price.chainId}` as const;
  const client =
    typeof price.facilitator === "string"
      ? new HTTPFacilitatorClient({ url: price.facilitator })
      : price.facilitator;
  const server = new x402ResourceServer(client).register(network, new ExactEvmScheme());
  const { address, name, version } = price.token;
  return paymentMiddleware(
    {
      "GET /v1/insights/*": {
        accepts: {
          scheme: "exact",
          network,
          payTo: price.payTo,
          price: { amount: String(price.amount), asset: address, extra: { name, version } },
          maxTimeoutSeconds: SETTLEMENT_SECONDS,
        },
        description: "One answer of Tallystick Insights",
        mimeType: "application/json",
      },
    },
    server,
  );
}
