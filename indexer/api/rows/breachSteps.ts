import { sql } from "ponder";
import type { Row } from "tallystick-derive/tables";
import * as schema from "../../ponder.schema.ts";
import type { Database } from "../database.ts";
import { FINAL_BLOCK } from "./checkpoint.ts";
import type { RowList } from "./list.ts";

/** The last final block: no reorganization can remove it. */
export async function finalBlock(db: Database): Promise<number> {
  const { rows } = await db.execute<{ block: string | null }>(
    sql`SELECT ${FINAL_BLOCK} AS block FROM _ponder_checkpoint LIMIT 1`,
  );
  return Number(rows[0]?.block ?? 0);
}

/** The steps of breaches in blocks [from, to], in order. */
export function stepsBetween(from: number, to: number): RowList<Row<"breachStep">> {
  const { breachStep } = schema;
  return {
    table: breachStep,
    order: [breachStep.block, breachStep.id],
    direction: "asc",
    where: sql`${breachStep.block} BETWEEN ${from} AND ${to}`,
  };
}
