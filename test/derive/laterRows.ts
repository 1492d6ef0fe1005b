import { applyInParts } from "tallystick-derive/apply";
import type { DeriveEvent } from "tallystick-derive/events";
import { type LaterRows, LoadedRows } from "tallystick-derive/loadedRows";
import type { MemoryStore } from "tallystick-derive/memoryStore";

/** A source of rows. `reads` counts the requests to the store, and `gets` the rows that were looked for in memory. */
export type CountedRows = LaterRows & { reads: number; gets: number };

/** A source of rows that has no row in memory. */
export function laterRows(store: MemoryStore): CountedRows {
  const rows: CountedRows = {
    reads: 0,
    gets: 0,
    get: () => {
      rows.gets++;
      return undefined;
    },
    read: async (names) => {
      rows.reads++;
      return names.map(({ table, id }) => store.get(table, id));
    },
  };
  return rows;
}

/** Applies one event, and returns how often it waited for rows. After each wait the part of the event runs again. */
export async function applyLater(store: MemoryStore, event: DeriveEvent): Promise<number> {
  const later = laterRows(store);
  const rows = new LoadedRows(later);
  const done = await applyInParts(rows, event, { trustSignatures: true }, (work) => rows.run(work));
  done.commitTo(store);
  return later.reads;
}
