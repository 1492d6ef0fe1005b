import { getTableName } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import type { DeriveEvent } from "tallystick-derive/events";
import { MemoryStore } from "tallystick-derive/memoryStore";
import { saveSummaries } from "../../../indexer/src/saveSummaries.ts";
import type { openApiDatabase } from "../../../tools/bench/api/apiDatabase.ts";
import { changesOf } from "./changesOf.ts";

type Row = { id: string };
type Change = object | ((row: Row) => object);

/**
 * Fills all summary tables (tallies and counts) with the rows that the handlers would have written for these
 * events.
 */
export async function fillTallies(
  { database }: Pick<Awaited<ReturnType<typeof openApiDatabase>>, "database">,
  events: DeriveEvent[],
): Promise<void> {
  for (const { table, rows } of (await summariesOf(events)).values())
    await database.insert(table).values([...rows.values()] as never);
}

/** The rows of every summary table after these events, by the table's name. */
export async function summariesOf(events: DeriveEvent[]) {
  const store = new MemoryStore();
  const tables = new Map<string, { table: PgTable; rows: Map<string, Row> }>();
  const insert = (table: PgTable) => ({
    values: (row: Row) => ({
      onConflictDoUpdate: async (change: Change) => {
        const name = getTableName(table);
        const known = tables.get(name) ?? { table, rows: new Map<string, Row>() };
        tables.set(name, known);
        const before = known.rows.get(row.id);
        const changed = before && (typeof change === "function" ? change({ ...before }) : change);
        known.rows.set(row.id, { ...(before ?? row), ...changed });
      },
    }),
  });
  for (const event of events) await saveSummaries({ insert } as never, await changesOf(store, event));
  return tables;
}
