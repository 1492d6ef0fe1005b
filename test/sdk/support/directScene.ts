import { parseUsdc } from "tallystick-protocol/amount";
import { memoryBudget } from "tallystick-sdk/budget/budget";
import { type Market, MEAN, mean, PURSE } from "./market.ts";
import type { SdkChain } from "./sdkChain.ts";

/** An order of a hire in direct mode, its price and its listing. */
export const ORDER = {
  capability: MEAN,
  params: { data: [1, 2, 6] },
  maxPriceUsdc: "0.10",
  maxLatencyMs: 60_000,
};
export const PRICE = parseUsdc("0.05");
export const LISTING = { capability: MEAN, price_usdc: "0.05", max_latency_ms: 30_000 };

/** The balances of buyer and seller before the hire, and after the payment. */
export const UNTOUCHED = [PURSE, 0n];
export const PAID = [PURSE - PRICE, PRICE];

/** A seller, a buyer with a budget, and their balances. */
export async function directScene({ chain, market }: { chain: SdkChain; market: Market }) {
  const seller = await market.openSeller({ listings: [LISTING], handlers: { [MEAN]: mean } });
  const buyer = await market.openBuyer({ budget: memoryBudget(1_000_000n) });
  const balances = async () => [await chain.balanceOf(buyer.wallet), await chain.balanceOf(seller.wallet)];
  return { seller, buyer, balances };
}
