/**
 * A price may be from a tenth to ten times the usual one. A price in cents, of another share, or a random
 * price is outside.
 */
const ROOM = 10;

/** The rough price of shares in 2026, in the currency of their exchange. */
const SHARES: { readonly [ticker: string]: number } = {
  AAPL: 250,
  MSFT: 480,
  GOOG: 220,
  GOOGL: 220,
  AMZN: 220,
  META: 650,
  NVDA: 170,
  TSLA: 350,
  "BRK.B": 490,
  "BRK.A": 740_000,
  JPM: 280,
  V: 340,
  KO: 68,
  DIS: 110,
  "ENI.MI": 14,
  "SAP.DE": 230,
  "SIE.DE": 220,
  "NESN.SW": 85,
  "7203.T": 2900,
};

/** The rough price of coins in 2026, in dollars. Euros, pounds and francs are similar enough. */
const COINS: { readonly [symbol: string]: number } = { BTC: 90_000, ETH: 3200, SOL: 180, BNB: 850, XRP: 2.3 };
const NEAR_DOLLAR = ["USD", "EUR", "GBP", "CHF", "USDC", "USDT", "DAI"];

/**
 * Why a share cannot have this price; undefined when it can. For shares that are not in the list only impossible prices
 * are refused.
 */
export function sharePriceProblem(ticker: string, price: number): string | undefined {
  if (price < 0.0001 || price > 10_000_000) return `${price} is no price of a share`;
  const usual = Object.hasOwn(SHARES, ticker.toUpperCase()) ? SHARES[ticker.toUpperCase()] : undefined;
  return rangeProblem(usual, price);
}

/** Why a coin cannot have this price; undefined when it can, and for coins and currencies that are not in the lists. */
export function coinPriceProblem(symbol: string, vs: string, price: number): string | undefined {
  const usual = Object.hasOwn(COINS, symbol) && NEAR_DOLLAR.includes(vs) ? COINS[symbol] : undefined;
  return rangeProblem(usual, price);
}

function rangeProblem(usual: number | undefined, price: number): string | undefined {
  if (usual === undefined || (price >= usual / ROOM && price <= usual * ROOM)) return undefined;
  return `${price} is far from what it has ever cost`;
}
