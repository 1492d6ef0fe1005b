import type { HeldProposals } from "../engine/heldProposals.ts";
import type { SharedStore } from "./sharedStore.ts";

/**
 * Takes the held proposals that the shared store has and this machine lacks. Another machine may already have answered
 * their agents with ESCROWED.
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
