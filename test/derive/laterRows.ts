import { apply } from "tallystick-derive/apply";
import type { DeriveEvent } from "tallystick-derive/events";
import { type LaterRows, LoadedRows } from "tallystick-derive/loadedRows";
import type { MemoryStore } from "tallystick-derive/memoryStore";
import { Transaction } from "tallystick-derive/transaction";

/** A source of rows that has no row in memory. `reads` counts the requests to the store. */
export function laterRows(store: MemoryStore): LaterRows & { reads: number } {
  const rows: LaterRows & { reads: number } = {
    reads: 0,
    get: () => undefined,
    read: async (names) => {
      rows.reads++;
      return names.map(({ table, id }) => store.get(table, id));
    },
  };
  return rows;
}

/** Applies one event, and returns how often it waited for rows. After each wait the whole event runs again. */
export async function applyLater(store: MemoryStore, event: DeriveEvent): Promise<number> {
  const later = laterRows(store);
  const rows = new LoadedRows(later);
  const done = await rows.run(() => {
    const attempt = new Transaction(rows);
    apply(attempt, event, { trustSignatures: true });
    return attempt;
  });
  done.commitTo(store);
  return later.reads;
}
