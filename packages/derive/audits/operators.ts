import type { ApplyContext } from "../applyContext.ts";
import { emptyRow } from "../emptyRow.ts";
import type { Row } from "../tables.ts";

/** The figures of an operator that are counted, one up or down at a time. */
type Figure = Exclude<keyof Row<"auditOperator">, "id" | "accrued" | "paid" | "owed">;

/** An operator's figures as they stand; null before its first. */
export async function operatorRow(context: ApplyContext, operator: string): Promise<Row<"auditOperator">> {
  const known = await context.store.get("auditOperator", operator);
  if (known !== null) return known;
  const row = { ...emptyRow("auditOperator"), id: operator };
  await context.store.insert("auditOperator", row);
  return row;
}

/** Counts something that an operator's audits came to. */
export async function countFor(
  context: ApplyContext,
  operator: string,
  figure: Figure,
  by = 1,
): Promise<void> {
  const row = await operatorRow(context, operator);
  await context.store.update("auditOperator", operator, { [figure]: row[figure] + by });
}
