import { type SQL, type SQLWrapper, sql } from "drizzle-orm";

/**
 * Where an audit stands, as one word over its row: its status, and what became of one that failed, `challenged` until its operator
 * decides; `failed` of one from which nothing follows, contested or judged again. The index in ponder.schema.ts and the queries use the same expression, or the index would not be found.
 */
export function auditStanding({
  status,
  decision,
  cause,
}: {
  [column in "status" | "decision" | "cause"]: SQLWrapper;
}): SQL {
  return sql`(CASE WHEN ${status} <> 'failed' THEN ${status} WHEN ${decision} IS NOT NULL THEN ${decision} WHEN ${cause} IN ('contested', 'history') THEN 'failed' ELSE 'challenged' END)`;
}

/** The seller of an audit that is in its `audit_pass_rate`, else null: what such audits are listed along. */
export function countedSeller({ counted, seller }: { [column in "counted" | "seller"]: SQLWrapper }): SQL {
  return sql`(CASE WHEN ${counted} IS NOT NULL THEN ${seller} END)`;
}
