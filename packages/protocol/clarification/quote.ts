import type { Address } from "../address.ts";
import { formatUsdc, parseUsdc } from "../amount.ts";
import { fromBase64, toBase64 } from "../base64.ts";
import { fromHex, type Hex, toHex } from "../hex.ts";
import { paramsHash } from "../hire/paramsHash.ts";
import type { RecordBody } from "../json/recordBody.ts";
import { isSignedBy, type RecordSigner, signBody } from "../records/record.ts";

/** What a seller promises one buyer: this price for exactly these params, until `expiresAt` (unix seconds). */
export type QuoteTerms = {
  seller: Address;
  buyer: Address;
  capability: string;
  /** The params that will be executed. A hire must have the same ones (compared by their RFC 8785 bytes). */
  params: { [key: string]: unknown };
  /** Atomic units. */
  price: bigint;
  estimatedLatencyMs: number;
  expiresAt: number;
  /** 8 bytes that are different for every round. */
  round: Hex;
};

/** The fields that a token contains. The token does not contain the other terms, but its signature covers them too. */
export type QuoteToken = Pick<QuoteTerms, "price" | "estimatedLatencyMs" | "expiresAt" | "round"> & {
  signature: Hex;
};

/** Why a token is refused. */
export type QuoteProblem = "unknown_quote" | "expired_quote" | "tampered_quote";

function quoteBody(terms: QuoteTerms): RecordBody {
  return {
    type: "quote",
    seller: terms.seller,
    buyer: terms.buyer,
    capability: terms.capability,
    params_hash: paramsHash(terms.params),
    price_usdc: formatUsdc(terms.price),
    estimated_latency_ms: terms.estimatedLatencyMs,
    expires_at: terms.expiresAt,
    round: terms.round,
  };
}

/**
 * The offsets of the fields in the bytes of a token: price, latency, expiry, round, then the seller's
 * signature.
 */
const [LATENCY_AT, EXPIRY_AT, ROUND_AT, SIGNATURE_AT, LENGTH] = [8, 14, 20, 28, 93];

/**
 * Signs a quote with the seller's wallet, and returns the token: `qt_` and 124 characters. The seller needs to store
 * nothing to keep its promise. The buyer can show anyone what was promised.
 */
export async function signQuote(terms: QuoteTerms, by: RecordSigner): Promise<string> {
  const bytes = new Uint8Array(LENGTH);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(0, terms.price);
  setUint48(view, LATENCY_AT, terms.estimatedLatencyMs);
  setUint48(view, EXPIRY_AT, terms.expiresAt);
  bytes.set(fromHex(terms.round, 8, "round"), ROUND_AT);
  bytes.set(fromHex(await signBody(quoteBody(terms), by), 65), SIGNATURE_AT);
  // Some wallets end a signature with 0 or 1 instead of 27 or 28.
  if ((bytes[LENGTH - 1] as number) < 2) bytes[LENGTH - 1] = (bytes[LENGTH - 1] as number) + 27;
  return `qt_${toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_")}`;
}

/** Reads what a token says; undefined when it is not a token. Does not check who signed it. */
export function readQuoteToken(token: string): QuoteToken | undefined {
  if (!/^qt_[\w-]{124}$/.test(token)) return undefined;
  const bytes = fromBase64(token.slice(3).replaceAll("-", "+").replaceAll("_", "/"));
  // The signature's last byte can be written in two ways. Only one way is accepted, so that a promise has only one
  // token.
  if (bytes[LENGTH - 1] !== 27 && bytes[LENGTH - 1] !== 28) return undefined;
  const view = new DataView(bytes.buffer);
  return {
    price: view.getBigUint64(0),
    estimatedLatencyMs: getUint48(view, LATENCY_AT),
    expiresAt: getUint48(view, EXPIRY_AT),
    round: toHex(bytes.slice(ROUND_AT, SIGNATURE_AT)),
    signature: toHex(bytes.slice(SIGNATURE_AT)),
  };
}

/**
 * Whether a token is this seller's promise to this buyer for exactly these params, at `now` (unix seconds). The
 * seller checks this when a hire presents the token, the buyer when it receives the token (SHP §7.5.2).
 */
export function checkQuote(
  token: string,
  about: Pick<QuoteTerms, "seller" | "buyer" | "capability" | "params">,
  now: number,
): { quote: QuoteToken } | { problem: QuoteProblem } {
  const quote = readQuoteToken(token);
  if (!quote) return { problem: "unknown_quote" };
  const terms: QuoteTerms = { ...about, ...quote };
  // The signature is checked first, because an expiry that nobody signed proves nothing.
  if (!isSignedBy(quoteBody(terms), quote.signature, about.seller)) return { problem: "tampered_quote" };
  return now < quote.expiresAt ? { quote } : { problem: "expired_quote" };
}

/** The price of a quote in USDC, as answers write it. */
export function quotePriceUsdc(quote: Pick<QuoteToken, "price">): string {
  return formatUsdc(quote.price);
}

/** Whether the price in an answer is the price in its token. */
export function isQuotedPrice(quote: Pick<QuoteToken, "price">, priceUsdc: string): boolean {
  return parseUsdc(priceUsdc) === quote.price;
}

function setUint48(view: DataView, at: number, value: number): void {
  view.setUint16(at, Math.floor(value / 2 ** 32));
  view.setUint32(at + 2, value % 2 ** 32);
}

function getUint48(view: DataView, at: number): number {
  return view.getUint16(at) * 2 ** 32 + view.getUint32(at + 2);
}
