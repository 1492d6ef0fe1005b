import { type SQL, type SQLWrapper, sql } from "drizzle-orm";

/**
 * The published status of an audit, as an SQL expression over its row. A failed audit has its operator's decision,
 * and is `challenged` until there is one. It is `failed` if the failure has no effect, because the hire was contested
 * or the audit judged it again. The index in ponder.schema.ts and the queries share this expression, since Postgres
 * uses an index only for the same expression.
 */
export function auditStatus({
  status,
  decision,
  cause,
}: {
  [column in "status" | "decision" | "cause"]: SQLWrapper;
}): SQL {
  return sql`(CASE WHEN ${status} <> 'failed' THEN ${status} WHEN ${decision} IS NOT NULL THEN ${decision} WHEN ${cause} IN ('contested', 'history') THEN 'failed' ELSE 'challenged' END)`;
}

/** The seller of an audit that is in its `audit_pass_rate`, else null. Such audits are listed by this value. */
export function countedSeller({ counted, seller }: { [column in "counted" | "seller"]: SQLWrapper }): SQL {
  return sql`(CASE WHEN ${counted} IS NOT NULL THEN ${seller} END)`;
}
