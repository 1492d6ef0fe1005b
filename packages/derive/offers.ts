import type { ApplyContext } from "./applyContext.ts";
import { addNumber, removeNumber, selectNumbers } from "./orderedSet.ts";
import type { Row } from "./tables.ts";

type Offered = Pick<Row<"listing">, "id" | "capability" | "price" | "live">;

/**
 * Notes what a listing changed in the offers of its capability. Reputation does not read it.
 *
 * @param before the listing that it replaces, if any
 * @param live all live listings of its seller now
 */
export async function changeOffers(
  { store }: ApplyContext,
  before: Offered | null,
  listing: Offered,
  live: readonly Offered[],
): Promise<void> {
  const { id, capability } = listing;
  const wasLive = before?.live ?? false;
  if (!wasLive && !listing.live) return;
  const prices = `offers/${capability}`;
  if (wasLive) await removeNumber(store, prices, before?.price ?? 0n);
  if (listing.live) await addNumber(store, prices, listing.price);

  const row = await store.get("offer", capability);
  const by = Number(listing.live) - Number(wasLive);
  const hasOthers = live.some((it) => it.capability === capability && it.id !== id);
  const listings = (row?.listings ?? 0) + by;
  const change = {
    listings,
    sellers: (row?.sellers ?? 0) + (hasOthers ? 0 : by),
    ...(await pricesOf(store, prices, listings)),
  };
  if (row === null) await store.insert("offer", { id: capability, ...change });
  else await store.update("offer", capability, change);
}

/** The lowest, and the middle one or the mean of the middle two, rounded half up. */
async function pricesOf(
  store: ApplyContext["store"],
  prices: string,
  size: number,
): Promise<Pick<Row<"offer">, "lowestPrice" | "medianPrice">> {
  if (size === 0) return { lowestPrice: null, medianPrice: null };
  const upper = Math.floor(size / 2);
  const [lowest = 0n, low = 0n, high = 0n] = await selectNumbers(store, prices, [
    0,
    size % 2 === 1 ? upper : upper - 1,
    upper,
  ]);
  return { lowestPrice: lowest, medianPrice: (low + high + 1n) / 2n };
}
