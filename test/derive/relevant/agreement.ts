import { expect } from "chai";
import { apply } from "tallystick-derive/apply";
import type { DeriveEvent } from "tallystick-derive/events";
import { LogReader } from "tallystick-derive/logReader";
import { MemoryStore } from "tallystick-derive/memoryStore";
import { relevantLog } from "tallystick-derive/relevant/relevantLog";
import { snapshotOf } from "tallystick-derive/snapshot";
import { type TableName, tables } from "tallystick-derive/tables";
import { type EventLog, TOKEN } from "../eventLog.ts";

/** Tables whose rows may differ between the two forms of a log: inflows of wallets, and the rows to find inflows. */
const OWN = new Set<TableName>([
  "state",
  "wallet",
  "inflow",
  "transferCount",
  "payment",
  "list",
  "listPage",
  "orderIndex",
]);

/** Derives a log as a reader of the log's file does. */
export async function derive(events: readonly DeriveEvent[]): Promise<MemoryStore> {
  const store = new MemoryStore();
  const reader = new LogReader(TOKEN);
  for (const event of events) {
    const read = reader.read(JSON.stringify(event));
    if (read !== undefined) apply(store, read, { trustSignatures: true });
  }
  return store;
}

/** The relevant log of a log that has all transfers. */
export async function relevant({ events }: Pick<EventLog, "events">): Promise<DeriveEvent[]> {
  const lines: DeriveEvent[] = [];
  for await (const line of relevantLog(events, { trustSignatures: true })) lines.push(line);
  return lines;
}

/**
 * Compares the results of the two forms of a log: the digest of every tick, every other row, and every field of every
 * agent at the end.
 */
export async function expectSame(log: EventLog): Promise<void> {
  const all = await derive(log.events);
  const few = await derive(await relevant(log));
  expect(rowsOf(few)).to.deep.equal(rowsOf(all));
  expect(snapshotOf(few)).to.deep.equal(snapshotOf(all));
}

function rowsOf(store: MemoryStore) {
  return Object.fromEntries(
    (Object.keys(tables) as TableName[]).map((table) => {
      const rows = [...store.rows(table).entries()].filter(
        ([id]) => !OWN.has(table) || /^(funded|registeredAt)/.test(id),
      );
      return [table, Object.fromEntries(rows)];
    }),
  );
}
