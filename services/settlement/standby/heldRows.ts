import type { HeldProposals, ShareHeld } from "../engine/heldProposals.ts";
import type { SharedStore } from "./sharedStore.ts";
import { leaseLost, storeUnavailable } from "./storeErrors.ts";

/**
 * Takes the held proposals that the shared store has and this machine lacks. Another machine answered them
 * with ESCROWED.
 */
export async function takeHeldRows(
  held: Pick<HeldProposals, "get" | "take">,
  store: Pick<SharedStore, "heldIds" | "held">,
): Promise<void> {
  for (let ids = await store.heldIds(""); ids.length > 0; ids = await store.heldIds(ids.at(-1) as string)) {
    for (const id of ids) {
      if (held.get(id)) continue;
      const row = await store.held(id);
      if (row) await held.take(row.line);
    }
  }
}

/**
 * Keeps held proposals in the shared store.
 *
 * @throws TallystickError `store_unavailable` (503) when it does not accept one; `ledger_taken_over` (503) when another
 * process has the lease. Then the proposal does not count as held
 */
export function shareHeldIn(store: Pick<SharedStore, "putHeld">): ShareHeld {
  return async (held) => {
    const hasLease = await store.putHeld(held).catch((cause) => {
      throw storeUnavailable(cause);
    });
    // The next writer has read the held proposals already, so it would not show this one.
    if (!hasLease) throw leaseLost();
  };
}
