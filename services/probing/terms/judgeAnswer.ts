import { tryForeignJson } from "tallystick-protocol/json/foreignJson";
import { readRequired } from "tallystick-sdk/x402/paymentHeaders";
import type { Answer } from "../net/ask.ts";
import type { Target } from "./target.ts";

/** The judgement on an answer to a request for terms. */
export type Judgement =
  /** `serves`: the terms pay the agent that lists the endpoint, or its payee. */
  { up: true; serves: boolean } | { up: false; why: "status" | "redirect" | "no_terms" };

/** The form of an amount in atomic units: at most 78 digits, without leading zeros. */
const AMOUNT = /^(?:0|[1-9]\d{0,77})$/;
const ADDRESS = /^0x[0-9a-f]{40}$/;

/** The scheme of a platform escrow's terms. Their `payTo` is the escrow, so the seller is named elsewhere. */
const ESCROW_SCHEME = "hire-escrow";

/** Whether the headers alone contain well-formed terms. Then the body is not read. */
export function hasTermsInHeaders({ status, headers }: Pick<Answer, "status" | "headers">): boolean {
  return (
    status === 402 && headers.get("PAYMENT-REQUIRED") !== null && optionsOf(headers, undefined).length > 0
  );
}

/**
 * Judges the answer of an endpoint to a request without payment. The endpoint is up if it gives well-formed
 * terms (402), or a free result (a JSON object). With any other answer it counts as down (STEWARD, T006).
 */
export function judgeAnswer({ status, headers, text, isCut }: Answer, target: Target): Judgement {
  if (status >= 300 && status < 400) return { up: false, why: "redirect" };
  const body = isCut ? undefined : tryForeignJson(text);
  if (status === 402) {
    const options = optionsOf(headers, body);
    if (options.length === 0) return { up: false, why: "no_terms" };
    return { up: true, serves: options.some((option) => pays(option, target)) };
  }
  if (status !== 200) return { up: false, why: "status" };
  // A result may be longer than the part that is read.
  const isResult = isCut
    ? /^\s*\{/.test(text)
    : body !== null && typeof body === "object" && !Array.isArray(body);
  return isResult ? { up: true, serves: false } : { up: false, why: "no_terms" };
}

type Option = { scheme: string; payTo: string; seller: string | undefined };

/** The options of a 402 that a buyer could pay. */
function optionsOf(headers: Answer["headers"], body: unknown): Option[] {
  const read = readRequired(headers, body);
  return (read?.required.accepts ?? []).flatMap(({ scheme, network, asset, amount, payTo, extra }) => {
    const payee = String(payTo).toLowerCase();
    const isWhole =
      typeof scheme === "string" &&
      typeof network === "string" &&
      ADDRESS.test(String(asset).toLowerCase()) &&
      typeof amount === "string" &&
      AMOUNT.test(amount) &&
      ADDRESS.test(payee);
    const seller = (extra as { seller?: unknown } | undefined)?.seller;
    return isWhole
      ? [{ scheme, payTo: payee, seller: typeof seller === "string" ? seller.toLowerCase() : undefined }]
      : [];
  });
}

function pays({ scheme, payTo, seller }: Option, { agent, payee }: Target): boolean {
  if (scheme === ESCROW_SCHEME) return seller === agent;
  return payTo === agent || (payee !== null && payTo === payee);
}
