import type { Address } from "tallystick-protocol/address";
import {
  ABANDON_MS,
  type ClarifyAnswer,
  COUNTER_PAUSE_SECONDS,
  type QuoteOffer,
  readClarifyAnswer,
} from "tallystick-protocol/clarification/clarifyAnswer";
import { signClarifyRequest } from "tallystick-protocol/clarification/clarifyRequest";
import { TallystickError } from "tallystick-protocol/errors";
import { toHex } from "tallystick-protocol/hex";
import type { Listing } from "tallystick-protocol/records/listing";
import type { LocalAccount } from "viem";
import { createSellerClient } from "../buyer/sellerClient.ts";
import { SellerRefusedError, sellerWords } from "../errors.ts";
import type { HireParameters } from "../hireParameters.ts";
import { createPublicFetch } from "../net/publicFetch.ts";
import { requirePublicUrl } from "../publicUrl.ts";
import type { Fetch } from "../requestService.ts";

export type ClarifyParameters = {
  account: LocalAccount;
  /** A listing with `clarification_supported`. */
  listing: Listing;
  /**
   * The wish in free text, at most 2 KB, for what the schema cannot express. The seller treats it as data.
   */
  brief: string;
  params?: { [key: string]: unknown };
  maxPriceUsdc?: string;
  maxLatencyMs?: number;
  /** When each listing last got alternatives as an answer. The caller keeps this between rounds. */
  memory?: CounterMemory;
  /** Allows sellers at http and private addresses. For local networks only. */
  devMode?: boolean;
  fetch?: Fetch;
  /** Milliseconds since 1970. */
  now?: () => number;
};

/** When a seller last offered alternatives, in unix seconds, by agent and capability. */
export type CounterMemory = Map<string, number>;

/**
 * Asks a seller for a firm offer before a hire (SHP §7.5): one request, one answer, no payment. Gives up after five
 * seconds. The answer is checked: the seller signed every offer in it for this buyer.
 *
 * @throws SellerRefusedError; TallystickError `clarification_not_supported`, `countered_just_now`, `bad_quote`;
 * InvalidInputError for a malformed answer; UnreachableError
 */
export async function clarify(parameters: ClarifyParameters): Promise<ClarifyAnswer> {
  const { account, listing, memory, now = Date.now } = parameters;
  const { capability, agent_id: seller } = listing;
  if (!listing.clarification_supported) {
    throw new TallystickError({
      code: "clarification_not_supported",
      message: `This listing of ${capability} takes no clarification.`,
      hint: "Search with clarification_supported, or hire it as it is.",
    });
  }
  if (!parameters.devMode) requirePublicUrl(listing.endpoint, "endpoint");
  const key = `${seller} ${capability}`;
  const last = memory?.get(key);
  if (last !== undefined && Math.floor(now() / 1000) - last < COUNTER_PAUSE_SECONDS) {
    throw new TallystickError({
      code: "countered_just_now",
      message: `This seller offered alternatives ${Math.floor(now() / 1000) - last} seconds ago, and takes no other question yet.`,
      hint: `Accept an alternative, or ask again ${COUNTER_PAUSE_SECONDS} seconds after they were offered.`,
    });
  }
  const buyer = account.address.toLowerCase() as Address;
  const request = await signClarifyRequest(
    {
      buyer_id: buyer,
      seller_id: seller,
      capability,
      brief: parameters.brief,
      params: parameters.params ?? {},
      max_price_usdc: parameters.maxPriceUsdc,
      max_latency_ms: parameters.maxLatencyMs,
      nonce: toHex(crypto.getRandomValues(new Uint8Array(16))),
      issued_at: Math.floor(now() / 1000),
    },
    { account },
  );
  const fetch =
    parameters.fetch ?? (parameters.devMode ? globalThis.fetch.bind(globalThis) : createPublicFetch());
  const ask = createSellerClient(listing, fetch);
  const { status, body } = await ask("/clarify", ABANDON_MS, { body: request });
  if (status !== 200) {
    const { code, detail, hint } = Object(body);
    throw new SellerRefusedError(status, sellerWords({ code, text: detail, hint }));
  }
  const answer = readClarifyAnswer(body, { seller, buyer, capability, now: Math.floor(now() / 1000) });
  if (answer.outcome === "counter") memory?.set(key, Math.floor(now() / 1000));
  return answer;
}

/**
 * The parameters of a hire that accepts an offer: the listing at the offered price, and the offered params unchanged.
 *
 * @example await buyer.hire({ ...acceptOffer(listing, answer.quote), maxPriceUsdc: "3.00", maxLatencyMs: 60_000 })
 */
export function acceptOffer(
  listing: Listing,
  offer: QuoteOffer,
): Pick<HireParameters, "capability" | "params" | "listing" | "quoteToken"> {
  return {
    capability: listing.capability,
    params: offer.params,
    quoteToken: offer.quote_token,
    listing: { ...listing, price_usdc: offer.price_usdc },
  };
}
