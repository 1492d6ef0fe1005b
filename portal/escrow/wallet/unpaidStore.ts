import type { Hex } from "tallystick-protocol/hex";
import { isHexText } from "./createChain.ts";

const KEY = "tallystick-escrow-unpaid";

/**
 * Keeps that an allowance was sent for an escrow and its deposit was not, so that the page can continue it
 * after a reload. One is kept: the last. Its terms are kept by `keepTerms`.
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

/** Forgets it, if it is the one that is kept. */
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
