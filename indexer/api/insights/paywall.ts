import { AsyncLocalStorage } from "node:async_hooks";
import { createHash } from "node:crypto";
import { type FacilitatorClient, HTTPFacilitatorClient, x402ResourceServer } from "@x402/core/server";
import { ExactEvmScheme } from "@x402/evm/exact/server";
import { paymentMiddleware } from "@x402/hono";
import type { Context, MiddlewareHandler } from "hono";
import type { Address } from "tallystick-protocol/address";
import { chargePayment } from "../charge.ts";
import { problem } from "../problem.ts";
import { discreetly } from "./discreetly.ts";
import type { PaymentChain } from "./paymentChain.ts";
import type { PaymentStore } from "./paymentStore.ts";
import { OUTCOME_UNKNOWN, type PaidRequest, Payments } from "./payments.ts";

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
  /** Decides what the facilitator left open. Without it, only the facilitator can confirm a payment. */
  chain?: PaymentChain | undefined;
  /** Remembers the payments, for all processes that sell these insights. */
  store: PaymentStore;
};

/** The longest time that a payment may take to settle. */
const SETTLEMENT_SECONDS = 60;

/**
 * Requires an x402 payment for every `/v1/insights/*` (SHP §9.2: insights have their own pricing). Errors are
 * free. If it is unknown whether a payment was settled, the answer is 503 `outcome_unknown`, never 402: a client that
 * gets 402 pays again. The same request with the same payment can be sent again.
 */
export function insightsPaywall(
  price: InsightsPrice,
  limits?: ConstructorParameters<typeof Payments>[3],
): MiddlewareHandler {
  const network = `eip155:${price.chainId}` as const;
  const client =
    typeof price.facilitator === "string"
      ? new HTTPFacilitatorClient({ url: price.facilitator })
      : price.facilitator;
  const payments = new Payments(client, price.chain, price.store, limits);
  // x402 does not tell the facilitator's client which request it works for.
  const requests = new AsyncLocalStorage<PaidRequest>();
  const request = () => requests.getStore() as PaidRequest;
  const facilitator = discreetly({
    verify: (payload, requirements) => payments.verify(request(), payload, requirements),
    settle: (payload, requirements) => payments.settle(request(), payload, requirements),
    getSupported: () => payments.getSupported(),
  });
  const server = new x402ResourceServer(facilitator).register(network, new ExactEvmScheme());
  const { address, name, version } = price.token;
  const paywall = paymentMiddleware(
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
  return async (context, next) => {
    if (paymentOf(context) !== "") chargePayment(context.env);
    const asked: PaidRequest = { name: nameOf(context, price), wasUnused: false, isUnknown: false };
    const answer = await requests.run(asked, () => paywall(context, next));
    if (!asked.isUnknown) return answer;
    // Without this, the headers of x402's answer would stay.
    context.res = undefined;
    context.res = problem(503, OUTCOME_UNKNOWN, "It is unknown whether your payment was settled.", {
      hint: "Send the same request with the same payment again. Sign no new payment.",
    });
    return undefined;
  };
}

/** The name of a request: the same only for the same payment at the same URL of the same operator. */
function nameOf(context: Context, { payTo }: InsightsPrice): string {
  const { pathname, search } = new URL(context.req.url);
  const text = `${payTo}\n${pathname}${search}\n${paymentOf(context)}`;
  return createHash("sha256").update(text).digest("base64");
}

function paymentOf({ req }: Context): string {
  return req.header("payment-signature") ?? req.header("x-payment") ?? "";
}
