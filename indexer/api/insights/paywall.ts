import { type FacilitatorClient, HTTPFacilitatorClient, x402ResourceServer } from "@x402/core/server";
import { ExactEvmScheme } from "@x402/evm/exact/server";
import { paymentMiddleware } from "@x402/hono";
import type { MiddlewareHandler } from "hono";
import type { Address } from "tallystick-protocol/address";

/** The operator's price for insights. */
export type InsightsPrice = {
  /** The price of one answer, in atomic units of the token. */
  amount: bigint;
  payTo: Address;
  chainId: number;
  /** The token, with the EIP-712 domain for which payers sign. */
  token: { address: Address; name: string; version: string };
  /** Verifies and settles the payments: a client, or its URL. */
  facilitator: FacilitatorClient | string;
};

/** The longest time that a payment may take to settle. */
const SETTLEMENT_SECONDS = 60;

/**
 * Requires an x402 payment for every `/v1/insights/*` (SHP §9.2: insights have their own pricing). Errors are
 * free.
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
