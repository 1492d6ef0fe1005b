import { sql } from "ponder";
import type { Row } from "tallystick-derive/tables";
import * as schema from "../../ponder.schema.ts";
import type { RowList } from "./list.ts";

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
