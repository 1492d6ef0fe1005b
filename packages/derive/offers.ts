import type { ApplyContext } from "./applyContext.ts";
import { addNumber, removeNumber, selectNumbers } from "./orderedSet.ts";
import type { Row } from "./tables.ts";

type Offered = Pick<Row<"listing">, "id" | "capability" | "price" | "live">;

/**
 * Notes what a listing changed in the offers of its capability. Reputation does not use the offers.
 *
 * @param before the listing that the new one replaces, if any
 * @param live all live listings of its seller now
 */
export function changeOffers(
  { store }: ApplyContext,
  before: Offered | null,
  listing: Offered,
  live: readonly Offered[],
): void {
  const { id, capability } = listing;
  const wasLive = before?.live === true;
  if (!wasLive && !listing.live) return;
  const prices = `offers/${capability}`;
  if (before?.live) removeNumber(store, prices, before.price);
  if (listing.live) addNumber(store, prices, listing.price);

  const row = store.get("offer", capability);
  const by = Number(listing.live) - Number(wasLive);
  const hasOthers = live.some((it) => it.capability === capability && it.id !== id);
  const listings = (row?.listings ?? 0) + by;
  store.put("offer", {
    id: capability,
    listings,
    sellers: (row?.sellers ?? 0) + (hasOthers ? 0 : by),
    ...pricesOf(store, prices, listings),
  });
}

/** The lowest price, and the median, rounded half up. */
function pricesOf(
  store: ApplyContext["store"],
  prices: string,
  size: number,
): Pick<Row<"offer">, "lowestPrice" | "medianPrice"> {
  if (size === 0) return { lowestPrice: null, medianPrice: null };
  const upper = Math.floor(size / 2);
  const ranks = [0, size % 2 === 1 ? upper : upper - 1, upper];
  const [lowest, low, high] = selectNumbers(store, prices, ranks) as [bigint, bigint, bigint];
  return { lowestPrice: lowest, medianPrice: (low + high + 1n) / 2n };
}
