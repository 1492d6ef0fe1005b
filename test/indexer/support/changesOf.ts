import { apply } from "tallystick-derive/apply";
import type { DeriveEvent } from "tallystick-derive/events";
import type { MemoryStore } from "tallystick-derive/memoryStore";
import { type RowChange, Transaction } from "tallystick-derive/transaction";

/** Applies an event to rows in memory, like a node to its database, and returns the changes. */
export async function changesOf(store: MemoryStore, event: DeriveEvent): Promise<readonly RowChange[]> {
  const transaction = new Transaction(store);
  apply(transaction, event, { trustSignatures: true });
  const changes = transaction.changes();
  for (const { table, before, after } of changes) {
    if (before === null) store.insert(table, after);
    else store.update(table, after.id, after);
  }
  return changes;
}
