import { and, eq, gt, lte, sql } from "ponder";
import type { Row } from "tallystick-derive/tables";
import { auditor, auditorError } from "../../ponder.schema.ts";
import { alongColumn, type RowList, wantedColumns } from "./list.ts";

/** A filter for offers of auditors. `active`: the offer is active; `assigned`: an audit was ever assigned to it. */
export type AuditorWhere = Partial<Record<"agent" | "operator" | "capability", string | null>> & {
  active?: boolean | null;
  assigned?: boolean | null;
};

/** The offers of auditors to operators, by operator and agent. There is an index for each of the two. */
export function auditorList(where: AuditorWhere): RowList<Row<"auditor">> {
  const { agent, operator, capability, active, assigned } = where;
  const along = wantedColumns([auditor.agent, agent], [auditor.operator, operator]);
  return {
    table: auditor,
    of: alongColumn("auditors", along[0], where),
    order: [auditor.id],
    direction: "asc",
    filter: and(
      ...along.slice(1).map(([column, value]) => eq(column, value)),
      capability ? sql`${capability} = ANY (string_to_array(${auditor.capabilities}, ','))` : undefined,
      typeof active === "boolean" ? eq(auditor.isActive, active) : undefined,
      typeof assigned === "boolean" ? (assigned ? gt : lte)(auditor.assigned, 0) : undefined,
    ),
  };
}

/** How an auditor judged its operator's canaries, by capability. */
export function errorsOf({
  agent,
  operator,
}: Pick<Row<"auditor">, "agent" | "operator">): RowList<Row<"auditorError">> {
  return {
    table: auditorError,
    of: { name: `errors of ${operator}`, column: auditorError.auditor, id: agent },
    order: [auditorError.id],
    direction: "asc",
    filter: eq(auditorError.operator, operator),
  };
}
