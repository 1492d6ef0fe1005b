import type { Address } from "tallystick-protocol/address";
import type { Question } from "../net/ask.ts";
import type { Target } from "./target.ts";

/** The time limit of a look, in milliseconds. */
const MAX_LOOK_MS = 10_000;

/**
 * Hires of this version are not signed. A seller may do a buyer's first signed hire for free, but only a limited
 * number of free hires a day. A prober must not use up the free hires.
 */
const UNSIGNED_PROTOCOL = "swarmwage/v0.2";

/** The prober that asks. */
export type Asker = { address: Address; userAgent: string };

/** Makes the request for an endpoint's terms: a hire without a payment (SHP §7.1). */
export function termsRequest(
  { agent, capability, paymentMode, endpoint, maxLatencyMs }: Target,
  params: { [key: string]: unknown },
  asker: Asker,
): Pick<Question, "url" | "headers" | "body" | "timeoutMs"> {
  const hire = {
    protocol: UNSIGNED_PROTOCOL,
    buyer_id: asker.address,
    seller_id: agent,
    capability,
    params,
    preferred_payment_mode: paymentMode,
  };
  return {
    url: `${endpoint.replace(/\/$/, "")}/hire`,
    headers: { ...headersOf(asker), "content-type": "application/json" },
    body: JSON.stringify(hire),
    timeoutMs: Math.min(maxLatencyMs, MAX_LOOK_MS),
  };
}

/** The headers of every request of a prober. */
export function headersOf({ userAgent }: Asker): { [name: string]: string } {
  return { accept: "application/json", "user-agent": userAgent, connection: "close" };
}
