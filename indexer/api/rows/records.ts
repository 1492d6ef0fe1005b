import { eq, inArray } from "ponder";
import type { Row } from "tallystick-derive/tables";
import * as schema from "../../ponder.schema.ts";
import type { Database } from "../database.ts";
import { byKey } from "./byKey.ts";
import type { RowList } from "./list.ts";

/** The records of entry hashes, each the one that was loaded first: the same entry may stand in several ledgers. */
export function recordsByHash(db: Database, hashes: readonly string[]): Promise<(Row<"record"> | null)[]> {
  const { record } = schema;
  return byKey(
    hashes,
    async (list) => {
      const found = await db.select().from(record).where(inArray(record.hash, list));
      return found.sort((a, b) => b.block - a.block || b.log - a.log || b.seq - a.seq);
    },
    (row) => row.hash,
  );
}

/** The records of a type that count, in the order in which they were loaded, the latest first. */
export function validRecords(type: string): RowList<Row<"record">> {
  const { record } = schema;
  return {
    table: record,
    of: { name: "valid records", column: record.type, id: type },
    order: [record.block, record.log, record.seq],
    direction: "desc",
    filter: eq(record.status, "valid"),
  };
}
