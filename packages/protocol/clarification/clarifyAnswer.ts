import * as z from "zod";
import type { Address } from "../address.ts";
import { priceUsdcSchema } from "../amount.ts";
import { invalidInputFromZod, TallystickError } from "../errors.ts";
import { checkQuote, isQuotedPrice } from "./quote.ts";

/** The most alternatives of a counter (SHP §7.5.3). */
export const MAX_OPTIONS = 3;

/** How long a buyer must not ask about a listing again after a counter, in seconds (SHP §7.5.3). */
export const COUNTER_PAUSE_SECONDS = 30;

/**
 * The time in which a seller should answer, and the time after which a buyer may give up, in milliseconds (SHP
 * §7.5).
 */
export const ANSWER_MS = 3000;
export const ABANDON_MS = 5000;

const option = z.looseObject({
  quote_token: z.string().max(256),
  price_usdc: priceUsdcSchema,
  estimated_latency_ms: z.int().min(1),
  expires_at: z.int().min(0),
  params: z.record(z.string(), z.unknown()),
  notes: z.string().max(2000).optional(),
});

const reason = z.string().min(1).max(2000);

/** The three outcomes of a round (SHP §7.5.2–7.5.4). */
export const clarifyAnswerSchema = z.discriminatedUnion("outcome", [
  z.looseObject({ protocol: z.string(), outcome: z.literal("quote"), quote: option }),
  z.looseObject({
    protocol: z.string(),
    outcome: z.literal("counter"),
    counter: z.looseObject({
      reason,
      options: z.array(option).min(1).max(MAX_OPTIONS, `must have at most ${MAX_OPTIONS} options`),
    }),
  }),
  z.looseObject({ protocol: z.string(), outcome: z.literal("decline"), reason }),
]);

export type ClarifyAnswer = z.output<typeof clarifyAnswerSchema>;
/** One firm offer: a quote, or one option of a counter. */
export type QuoteOffer = z.output<typeof option>;

/**
 * Reads a seller's answer, and checks every offer in it against its token. This seller must have signed the token,
 * for this buyer and these params, with the price, latency and expiry of the offer.
 *
 * @param now unix seconds
 * @throws InvalidInputError naming every wrong field; TallystickError `bad_quote`
 */
export function readClarifyAnswer(
  value: unknown,
  about: { seller: Address; buyer: Address; capability: string; now: number },
): ClarifyAnswer {
  const result = clarifyAnswerSchema.safeParse(value);
  if (!result.success) throw invalidInputFromZod(result.error, "answer");
  for (const offer of offersOf(result.data)) requireKept(offer, about);
  return result.data;
}

/** The offers in an answer: one, up to three, or none. */
export function offersOf(answer: ClarifyAnswer): QuoteOffer[] {
  if (answer.outcome === "quote") return [answer.quote];
  return answer.outcome === "counter" ? answer.counter.options : [];
}

function requireKept(
  offer: QuoteOffer,
  { seller, buyer, capability, now }: { seller: Address; buyer: Address; capability: string; now: number },
): void {
  const checked = checkQuote(offer.quote_token, { seller, buyer, capability, params: offer.params }, now);
  const problem =
    "problem" in checked
      ? checked.problem
      : !isQuotedPrice(checked.quote, offer.price_usdc) ||
          checked.quote.expiresAt !== offer.expires_at ||
          checked.quote.estimatedLatencyMs !== offer.estimated_latency_ms
        ? "tampered_quote"
        : undefined;
  if (problem === undefined) return;
  throw new TallystickError({
    code: "bad_quote",
    message: `The quote is not a valid promise of this seller (${problem}).`,
    hint: "Do not hire with this offer: the seller does not have to keep it.",
  });
}
