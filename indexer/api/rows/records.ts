import { eq, inArray, sql } from "ponder";
import type { Row } from "tallystick-derive/tables";
import * as schema from "../../ponder.schema.ts";
import type { Database } from "../database.ts";
import { byKey } from "./byKey.ts";
import { FINAL_BLOCK } from "./checkpoint.ts";
import type { RowList } from "./list.ts";

/** The records with these entry hashes. If an entry is in several ledgers, the one that was loaded first. */
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

/** The valid records of a type, the last loaded first. `final`: only records in final blocks. */
export function validRecords(type: string, { final = false } = {}): RowList<Row<"record">> {
  const { record } = schema;
  const isFinal = sql`${record.block} <= (SELECT ${FINAL_BLOCK} FROM _ponder_checkpoint LIMIT 1)`;
  return {
    table: record,
    of: { name: `valid records ${final}`, column: record.type, id: type },
    order: [record.block, record.log, record.seq],
    direction: "desc",
    where: final ? isFinal : undefined,
    filter: eq(record.status, "valid"),
  };
}
