import type { ApplyContext } from "../applyContext.ts";
import { emptyRow } from "../emptyRow.ts";
import type { Row } from "../tables.ts";

/** The counters among an operator's figures. */
type Figure = Exclude<keyof Row<"auditOperator">, "id" | "accrued" | "paid" | "owed">;

/** An operator's figures now; null before the first. */
export async function operatorRow(context: ApplyContext, operator: string): Promise<Row<"auditOperator">> {
  const known = await context.store.get("auditOperator", operator);
  if (known !== null) return known;
  const row = { ...emptyRow("auditOperator"), id: operator };
  await context.store.insert("auditOperator", row);
  return row;
}

/** Counts one result of an operator's audits. */
export async function countFor(
  context: ApplyContext,
  operator: string,
  figure: Figure,
  by = 1,
): Promise<void> {
  const row = await operatorRow(context, operator);
  await context.store.update("auditOperator", operator, { [figure]: row[figure] + by });
}
