import { eq } from "ponder";
import type { Row } from "tallystick-derive/tables";
import { auditMode, auditModeChange, auditOperator, auditPeriod, canaryList } from "../../ponder.schema.ts";
import { alongColumn, type RowList, wantedColumns } from "./list.ts";

/** Every operator with audits, by address. */
export function operatorList(): RowList<Row<"auditOperator">> {
  return { table: auditOperator, order: [auditOperator.id], direction: "asc" };
}

/** The audit modes (`bootstrap` or `mature`) of capabilities, by operator and capability. */
export function modeList(where: {
  operator?: string | null;
  capability?: string | null;
}): RowList<Row<"auditMode">> {
  const [along] = wantedColumns([auditMode.operator, where.operator]);
  return {
    table: auditMode,
    of: alongColumn("audit modes", along, where),
    order: [auditMode.id],
    direction: "asc",
    filter: where.capability ? eq(auditMode.capability, where.capability) : undefined,
  };
}

/** Every change of a mode, the latest first. */
export function modeChangeList(operator?: string | null): RowList<Row<"auditModeChange">> {
  return {
    table: auditModeChange,
    order: [auditModeChange.block, auditModeChange.id],
    direction: "desc",
    filter: operator ? eq(auditModeChange.operator, operator) : undefined,
  };
}

/** What an operator's pool accrued and paid, by periods of 30 days, the latest first. */
export function periodsOf(operator: string): RowList<Row<"auditPeriod">> {
  return {
    table: auditPeriod,
    of: { name: "audit periods", column: auditPeriod.operator, id: operator },
    order: [auditPeriod.from],
    direction: "desc",
  };
}

/** The lists of hires that an operator committed to arrange, the latest first. */
export function canaryListsOf(operator: string): RowList<Row<"canaryList">> {
  return {
    table: canaryList,
    of: { name: "canary lists", column: canaryList.operator, id: operator },
    order: [canaryList.block, canaryList.id],
    direction: "desc",
  };
}
