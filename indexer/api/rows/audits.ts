import { and, eq, isNotNull, sql } from "ponder";
import type { Row } from "tallystick-derive/tables";
import * as schema from "../../ponder.schema.ts";
import { auditStatus, countedSeller } from "../../src/auditStatus.ts";
import type { Database } from "../database.ts";
import { alongColumn, type RowList, wantedColumns } from "./list.ts";
import { decodeRow } from "./rowsById.ts";

/** A filter for audits. `status` is a value of `auditStatus`. */
export type AuditWhere = Partial<
  Record<"operator" | "seller" | "auditor" | "capability" | "status", string | null>
>;

const { audit, auditAssignment } = schema;
const STATUS = auditStatus(audit);

/**
 * Audits that meet every condition, the latest first. `eligible` orders by the time at which the hire became
 * eligible, with an index for the seller, the status, or both. `drawn` lists only drawn audits, by the time of the
 * draw.
 */
export function auditList(where: AuditWhere, by: "eligible" | "drawn"): RowList<Row<"audit">> {
  const { operator, seller, auditor, capability, status } = where;
  const others = and(
    operator ? eq(audit.operator, operator) : undefined,
    capability ? eq(audit.capability, capability) : undefined,
    auditor
      ? sql`EXISTS (SELECT 1 FROM ${auditAssignment} WHERE ${auditAssignment.hire} = ${audit.hire} AND ${auditAssignment.audit} = ${audit.id} AND ${auditAssignment.auditor} = ${auditor})`
      : undefined,
  );
  const isSeller = seller ? eq(audit.seller, seller) : undefined;
  const hasStatus = status ? sql`${STATUS} = ${status}` : undefined;
  if (by === "drawn") {
    return {
      table: audit,
      order: [audit.drawnBlock, audit.id],
      direction: "desc",
      where: isNotNull(audit.drawnBlock),
      filter: and(isSeller, hasStatus, others),
    };
  }
  const list = {
    table: audit,
    order: [audit.eligibleBlock, audit.id],
    direction: "desc",
  } as const;
  if (seller) {
    const of = alongColumn("audits", [audit.seller, seller], where);
    return { ...list, of, where: hasStatus, filter: others };
  }
  if (!status) return { ...list, filter: others };
  const name = `audits by status ${JSON.stringify({ ...where, status: null })}`;
  return { ...list, of: { name, column: STATUS, id: status }, filter: others };
}

/** The audits that are in a seller's `audit_pass_rate`, the latest first. */
export function countedAudits(seller: string): RowList<Row<"audit">> {
  return {
    table: audit,
    of: { name: "audits counted", column: countedSeller(audit), id: seller },
    order: [audit.eligibleBlock, audit.id],
    direction: "desc",
  };
}

/** A filter for assignments. `open`: the auditor is asked now and has not answered. */
export type AssignmentWhere = Partial<Record<"auditor" | "operator", string | null>> & {
  open?: boolean | null;
};

/** Assignments that meet every condition, the latest first, with an index for the auditor. */
export function assignmentList(where: AssignmentWhere): RowList<Row<"auditAssignment">> {
  const { auditor, operator, open } = where;
  const [along] = wantedColumns([auditAssignment.auditor, auditor]);
  const isOpen = sql`(${auditAssignment.verdict} IS NULL AND EXISTS (SELECT 1 FROM ${audit} WHERE ${audit.id} = ${auditAssignment.audit}
    AND ${audit.status} IN ('assigned', 'assigning') AND ${audit.round} = ${auditAssignment.round} AND ${audit.attempt} = ${auditAssignment.attempt}))`;
  return {
    table: auditAssignment,
    of: alongColumn("assignments", along, where),
    order: [auditAssignment.block, auditAssignment.id],
    direction: "desc",
    filter: and(
      operator ? eq(auditAssignment.operator, operator) : undefined,
      open === null || open === undefined ? undefined : open ? isOpen : sql`NOT ${isOpen}`,
    ),
  };
}

/** Records name at most 16 rounds of 16 attempts. */
const MAX_ASSIGNMENTS = 256;

/** The assignments of each audit, by its row's id, in order of rounds and attempts. */
export async function assignmentsOf(
  db: Database,
  audits: readonly string[],
): Promise<Row<"auditAssignment">[][]> {
  const { rows } = await db.execute<{ audit: string }>(
    sql`SELECT page.* FROM unnest(${sql.param([...audits])}::text[]) AS asked (id) CROSS JOIN LATERAL (
      SELECT * FROM ${auditAssignment} WHERE ${auditAssignment.hire} = split_part(asked.id, '/', 1) AND ${auditAssignment.audit} = asked.id
      ORDER BY ${auditAssignment.round}, ${auditAssignment.attempt} LIMIT ${sql.raw(String(MAX_ASSIGNMENTS))}) AS page`,
  );
  const byAudit = Map.groupBy(rows, ({ audit }) => audit);
  return audits.map((id) => (byAudit.get(id) ?? []).map((row) => decodeRow(auditAssignment, row)));
}
