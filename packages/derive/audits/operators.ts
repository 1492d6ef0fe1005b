import type { ApplyContext } from "../applyContext.ts";
import { emptyRow } from "../emptyRow.ts";
import type { Row } from "../tables.ts";

/** The counters among an operator's figures. */
type Figure = Exclude<keyof Row<"auditOperator">, "id" | "accrued" | "paid" | "owed">;

/** The row of an operator's figures. It is inserted when it is first needed. */
export function operatorRow(context: ApplyContext, operator: string): Row<"auditOperator"> {
  const known = context.store.get("auditOperator", operator);
  if (known !== null) return known;
  const row = { ...emptyRow("auditOperator"), id: operator };
  context.store.insert("auditOperator", row);
  return row;
}

/** Counts one result of an operator's audits. */
export function countFor(context: ApplyContext, operator: string, figure: Figure, by = 1): void {
  const row = operatorRow(context, operator);
  context.store.update("auditOperator", operator, { [figure]: row[figure] + by });
}
