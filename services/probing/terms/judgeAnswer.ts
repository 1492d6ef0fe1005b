import { tryForeignJson } from "tallystick-protocol/json/foreignJson";
import { readRequired } from "tallystick-sdk/x402/paymentHeaders";
import type { Answer } from "../net/ask.ts";
import type { Target } from "./target.ts";

/** What an answer to a question for terms comes to. */
export type Judgement =
  /** `serves`: the terms pay the agent that lists it here, or its payee. */
  { up: true; serves: boolean } | { up: false; why: "status" | "redirect" | "no_terms" };

/** Fewest digits and most of an amount in atomic units. */
const AMOUNT = /^(?:0|[1-9]\d{0,77})$/;
const ADDRESS = /^0x[0-9a-f]{40}$/;

/** How a platform escrow's terms say whose hire it is: `payTo` is the escrow. */
const ESCROW_SCHEME = "hire-escrow";

/** Whether the headers alone are well-formed terms, so that the body need not be read. */
export function hasTermsInHeaders({ status, headers }: Pick<Answer, "status" | "headers">): boolean {
  return (
    status === 402 && headers.get("PAYMENT-REQUIRED") !== null && optionsOf(headers, undefined).length > 0
  );
}

/**
 * Judges what an endpoint answered to somebody who does not pay: it is up if it names well-formed terms (402) or gives the result for
 * nothing (a JSON object). Whatever else it says, it does no business (STEWARD, T006).
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
  // A result may be larger than what is read of it.
  const isResult = isCut
    ? /^\s*\{/.test(text)
    : body !== null && typeof body === "object" && !Array.isArray(body);
  return isResult ? { up: true, serves: false } : { up: false, why: "no_terms" };
}

type Option = { scheme: string; payTo: string; seller: string | undefined };

/** The options of a 402 that somebody could pay. */
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
