import type { Hex } from "tallystick-protocol/hex";
import { isHexText } from "./createChain.ts";

const KEY = "tallystick-escrow-unpaid";

/**
 * Stores the id of an escrow before the wallet is asked for its allowance, which comes before its deposit. So the page
 * can continue the deposit after a reload. Only the last such escrow is stored. `keepTerms` stores its terms.
 */
export function keepUnpaid(id: Hex): void {
  write(id);
}

/** The escrow whose deposit is missing; null if there is none. */
export function unpaidOne(): Hex | null {
  try {
    const id = localStorage.getItem(KEY);
    return isHexText(id) && id.length === 66 ? id : null;
  } catch {
    return null;
  }
}

/** Forgets an escrow, if it is the stored one. */
export function forgetUnpaid(id: Hex): void {
  if (unpaidOne() === id) write(null);
}

function write(id: Hex | null): void {
  try {
    if (id === null) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, id);
  } catch {
    // A browser may refuse storage. Then the terms have to be filled in again after a reload.
  }
}
