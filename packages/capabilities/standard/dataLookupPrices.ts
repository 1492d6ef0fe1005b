import { asciiUpperCase } from "../checks/asciiUpperCase.ts";
import { isFresh, isUnixSeconds } from "../checks/instants.ts";
import { CURRENCIES, currenciesOf } from "../checks/isoCodes.ts";
import { coinPriceProblem, sharePriceProblem } from "../checks/plausiblePrices.ts";
import { type Check, defineCapability } from "../defineCapability.ts";

type Quote = { price: number; timestamp: number };

/** When the buyer asked, so that the age of an answer can be checked without a clock. */
const askedAt = { type: "integer", minimum: 1_577_836_800 } as const;

const isPositive: Check<unknown, Quote> = {
  since: "v0",
  test: ({ output }) =>
    output.price > 0 && Number.isFinite(output.price) ? undefined : `is ${output.price}`,
};
const hasATime: Check<unknown, Quote> = {
  since: "v0",
  test: ({ output }) =>
    isUnixSeconds(output.timestamp) ? undefined : `${output.timestamp} are no unix seconds`,
};
const isFreshQuote: Check<{ asked_at?: number }, Quote> = {
  since: "v1",
  test: ({ input, output }) =>
    isFresh(output.timestamp, input.asked_at)
      ? undefined
      : `is ${Math.abs(output.timestamp - (input.asked_at ?? 0))} seconds from when it was asked`,
};

/** Coins with a fixed price of one dollar, and the allowed deviation. */
const DOLLARS = new Set(["USDC", "USDT", "DAI", "PYUSD", "USDP"]);
const [MIN_DOLLAR, MAX_DOLLAR] = [0.8, 1.2];

/** `data.lookup.crypto-price`: the price of a coin. */
export const dataLookupCryptoPrice = defineCapability({
  id: "data.lookup.crypto-price",
  summary: "the price of a coin in a currency",
  input: {
    type: "object",
    properties: {
      symbol: { type: "string", pattern: "^[A-Za-z0-9]{1,16}$" },
      vs: { type: "string", pattern: "^[A-Za-z0-9]{2,8}$" },
      asked_at: askedAt,
    },
    required: ["symbol"],
    additionalProperties: false,
  },
  output: {
    type: "object",
    properties: {
      symbol: { type: "string", maxLength: 16 },
      price: { type: "number" },
      vs: { type: "string", maxLength: 8 },
      timestamp: { type: "integer" },
    },
    required: ["symbol", "price", "vs", "timestamp"],
  },
  checks: {
    is_positive: isPositive,
    has_a_time: hasATime,
    is_of_the_asked_coin: {
      since: "v0",
      test: ({ input, output }) =>
        asciiUpperCase(output.symbol) === asciiUpperCase(input.symbol) ? undefined : `is of ${output.symbol}`,
    },
    is_in_the_asked_currency: {
      since: "v0",
      test: ({ input, output }) =>
        asciiUpperCase(output.vs) === asciiUpperCase(input.vs ?? "usd") ? undefined : `is in ${output.vs}`,
    },
    is_fresh: isFreshQuote,
    is_plausible: {
      since: "v1",
      test: ({ input, output }) => {
        const [symbol, vs] = [asciiUpperCase(input.symbol), asciiUpperCase(input.vs ?? "usd")];
        if (symbol === vs) return output.price === 1 ? undefined : "is not 1 for the same coin";
        const isDollar = DOLLARS.has(symbol) && (vs === "USD" || DOLLARS.has(vs));
        const fits = output.price >= MIN_DOLLAR && output.price <= MAX_DOLLAR;
        if (isDollar && !fits) return `is ${output.price} for a dollar coin`;
        return coinPriceProblem(symbol, vs, output.price);
      },
    },
  },
});

/** `data.lookup.stock-price`: the price of a share. */
export const dataLookupStockPrice = defineCapability({
  id: "data.lookup.stock-price",
  summary: "the price of a share",
  input: {
    type: "object",
    properties: {
      ticker: { type: "string", pattern: "^[A-Za-z0-9][A-Za-z0-9.-]{0,15}$" },
      asked_at: askedAt,
    },
    required: ["ticker"],
    additionalProperties: false,
  },
  output: {
    type: "object",
    properties: {
      ticker: { type: "string", maxLength: 16 },
      price: { type: "number" },
      currency: { type: "string", maxLength: 8 },
      timestamp: { type: "integer" },
    },
    required: ["ticker", "price", "currency", "timestamp"],
  },
  checks: {
    is_positive: isPositive,
    has_a_time: hasATime,
    is_of_the_asked_share: {
      since: "v0",
      test: ({ input, output }) =>
        sameTicker(output.ticker) === sameTicker(input.ticker) ? undefined : `is of ${output.ticker}`,
    },
    has_a_currency: {
      since: "v0",
      test: ({ output }) => (isCurrency(output.currency) ? undefined : `${output.currency} is no currency`),
    },
    is_fresh: {
      since: "v1",
      // Exchanges close on weekends and holidays, so the last price may be four days old. In Asia a new year or a
      // golden week takes up to eleven days.
      test: ({ input, output }) => {
        const days = mayCloseLong(input.ticker) ? 12 : 5;
        return isFresh(output.timestamp, input.asked_at, days * 86_400)
          ? undefined
          : `is older than ${days} days`;
      },
    },
    is_plausible: {
      since: "v1",
      test: ({ input, output }) => sharePriceProblem(sameTicker(input.ticker), output.price),
    },
    is_in_the_currency_of_the_exchange: {
      since: "v1",
      test: ({ input, output }) => {
        const expected = currenciesOf(input.ticker);
        const written = asciiUpperCase(output.currency);
        const currency = HUNDREDTHS[output.currency] ?? HUNDREDTHS[written] ?? written;
        return expected === undefined || expected.includes(currency)
          ? undefined
          : `is in ${output.currency}, not ${expected.join(" or ")}`;
      },
    },
  },
});

/** Names of hundredths of a currency, in which some exchanges give prices. */
const HUNDREDTHS: { readonly [name: string]: string } = { GBX: "GBP", GBp: "GBP", ILA: "ILS", ZAC: "ZAR" };

/** The exchanges of China, Hong Kong, Taiwan, Korea, Japan, Turkey and Indonesia. */
const LONG_HOLIDAYS = /\.(?:SS|SZ|HK|TW|TWO|KS|KQ|T|IS|JK)$/i;

/**
 * Whether an exchange may close for more than a week. An unknown exchange counts as one that may, because those of
 * Vietnam and Saudi Arabia do. A single letter after a point does not name an exchange: it is mostly a class of shares
 * in New York.
 */
function mayCloseLong(ticker: string): boolean {
  return LONG_HOLIDAYS.test(ticker) || (/\.[A-Z]{2,3}$/i.test(ticker) && currenciesOf(ticker) === undefined);
}

/** A ticker in one spelling: BRK.B and BRK-B are one share. */
function sameTicker(ticker: string): string {
  return asciiUpperCase(ticker).replaceAll("-", ".");
}

function isCurrency(text: string): boolean {
  return CURRENCIES.has(asciiUpperCase(text)) || Object.hasOwn(HUNDREDTHS, asciiUpperCase(text));
}
