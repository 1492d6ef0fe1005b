import type { EscrowDeployment } from "tallystick-protocol/escrow/hire";
import type { KeyValueStore } from "../store/keyValueStore.ts";
import { requireStoreOf } from "../store/requireStoreOf.ts";

/**
 * Requires that a keeper's store is about this escrow. Another escrow knows none of the stored deposits and
 * instructions. A keeper of it would forget all of them, and would begin to read deposits at a wrong block.
 *
 * @throws TallystickError `other_store`
 */
export async function requireKeeperStore(
  store: KeyValueStore,
  { chainId, escrow }: EscrowDeployment,
): Promise<void> {
  await requireStoreOf(store, {
    name: "keeper",
    scope: { chain: chainId, escrow: escrow.toLowerCase() },
    hint: "Give each escrow a folder of its own (KEEPER_DIR), or name the escrow and the chain of this folder. Nothing was changed.",
  });
}
