import { asc, eq } from "ponder";
import type { Row } from "tallystick-derive/tables";
import * as schema from "../../ponder.schema.ts";
import type { Database } from "../database.ts";
import { byKey } from "./byKey.ts";
import type { RowList } from "./list.ts";
import { type RowOf, rowsById } from "./rowsById.ts";

/** An entry of a ledger: a protocol record, or generic work. */
export type EntryRow = { record: Row<"record"> } | { generic: RowOf<"genericEntry"> };

/** The entries of a ledger at these positions, in their order. Every position of a loaded ledger has one. */
export async function entriesAt(
  db: Database,
  ledger: string,
  positions: readonly number[],
): Promise<EntryRow[]> {
  const ids = positions.map((seq) => `${ledger}/${seq}`);
  const [records, generic] = await Promise.all([
    rowsById(db, "record", ids),
    rowsById(db, "genericEntry", ids),
  ]);
  const found = new Map<string, EntryRow>([
    ...records.map((record): [string, EntryRow] => [record.id, { record }]),
    ...generic.map((row): [string, EntryRow] => [row.id, { generic: row }]),
  ]);
  return ids.flatMap((id) => found.get(id) ?? []);
}

/** The records of one type in a ledger, in its order. */
export function recordsIn(ledger: string, type: string): RowList<Row<"record">> {
  const { record } = schema;
  return {
    table: record,
    of: { name: `records of ${JSON.stringify(type)}`, column: record.ledger, id: ledger },
    where: eq(record.type, type),
    order: [record.seq],
    direction: "asc",
  };
}

/** The generic work of one type in a ledger, in its order. */
export function genericIn(ledger: string, type: string): RowList<RowOf<"genericEntry">> {
  const { genericEntry } = schema;
  return {
    table: genericEntry,
    of: { name: `work of ${JSON.stringify(type)}`, column: genericEntry.ledger, id: ledger },
    where: eq(genericEntry.type, type),
    order: [genericEntry.seq],
    direction: "asc",
  };
}

/** The generic work with these entry hashes. If an entry is in several ledgers, the row with the lowest id is given. */
export function genericByHash(
  db: Database,
  hashes: readonly string[],
): Promise<(RowOf<"genericEntry"> | null)[]> {
  const { genericEntry } = schema;
  return byKey(
    hashes,
    async (wanted) => {
      const found = await Promise.all(
        wanted.map((hash) =>
          db
            .select()
            .from(genericEntry)
            .where(eq(genericEntry.hash, hash))
            .orderBy(asc(genericEntry.id))
            .limit(1),
        ),
      );
      return found.flat();
    },
    (row) => row.hash,
  );
}
