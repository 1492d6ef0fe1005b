import type { Address } from "tallystick-protocol/address";
import type { QueryClient } from "../query/createQueryClient.ts";
import type { HasHired } from "./freeCalls.ts";

/** The most pages of receipts that are read: 2,000 hires. A buyer whose hires are all older counts as new. */
const MAX_PAGES = 20;

/**
 * Makes a function that asks the indexer's history whether a buyer has hired a capability of this seller before
 * (SHP §11). Give this function to `createSeller` as `hasHired`. Then a buyer gets only one free call of a capability,
 * even if the seller has lost its store.
 *
 * @example createSeller({ …, hasHired: hiredBefore(createQueryClient({ baseUrl }), account.address) })
 */
export function hiredBefore(query: Pick<QueryClient, "receipts">, seller: string): HasHired {
  const agent = seller.toLowerCase() as Address;
  return async (buyer, capability) => {
    let cursor: string | null = null;
    for (let page = 0; page < MAX_PAGES; page++) {
      const answer: Awaited<ReturnType<QueryClient["receipts"]>> = await query.receipts(agent, {
        limit: 100,
        ...(cursor !== null && { cursor }),
      });
      if (answer.receipts.some((it) => it.buyer === buyer && it.capability === capability)) return true;
      cursor = answer.next_cursor;
      if (cursor === null) return false;
    }
    return false;
  };
}
