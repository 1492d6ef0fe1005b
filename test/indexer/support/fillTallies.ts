import type { DeriveEvent } from "tallystick-derive/events";
import { MemoryStore } from "tallystick-derive/memoryStore";
import * as schema from "../../../indexer/ponder.schema.ts";
import { addTallies, type TallyChange, talliesOf } from "../../../indexer/src/insights.ts";
import type { openApiDatabase } from "../../../tools/bench/api/apiDatabase.ts";
import { changesOf } from "./changesOf.ts";

/** Fills the tables of insights with what the handlers would have summed up over these events. */
export async function fillTallies(
  { database }: Awaited<ReturnType<typeof openApiDatabase>>,
  events: DeriveEvent[],
): Promise<void> {
  const store = new MemoryStore();
  const rows = new Map<string, TallyChange>();
  for (const event of events) {
    for (const { key, by } of talliesOf(await changesOf(store, event))) {
      const id = `${key.table} ${key.id}`;
      const known = rows.get(id);
      rows.set(id, { key, by: known === undefined ? by : addTallies(known.by, by) });
    }
  }
  const { agentDay, capabilityDay, capabilityAgent, capabilityTotal } = schema;
  const tables = { agentDay, capabilityDay, capabilityAgent, capabilityTotal };
  for (const { key, by } of rows.values()) {
    const { table, ...columns } = key;
    await database.insert(tables[table]).values({ ...columns, ...by } as never);
  }
}
