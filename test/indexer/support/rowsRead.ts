import type pg from "pg";

type PlanNode = {
  "Node Type": string;
  "Relation Name"?: string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  "Rows Removed by Index Recheck"?: number;
  Plans?: PlanNode[];
};

/** Runs a statement again and counts the rows that it looked at in tables, and those that it gave. */
export async function rowsRead(
  pool: pg.Pool,
  { query, params }: { query: string; params: unknown[] },
): Promise<{ read: number; returned: number; plan: string }> {
  const { rows } = await pool.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${query}`, params);
  const { Plan } = rows[0]["QUERY PLAN"][0] as { Plan: PlanNode };
  return { read: read(Plan), returned: Plan["Actual Rows"] * Plan["Actual Loops"], plan: text(Plan) };
}

/** Only nodes that scan a table read rows of it; a bitmap of an index does so through its heap scan. */
function read(node: PlanNode): number {
  const below = (node.Plans ?? []).reduce((sum, child) => sum + read(child), 0);
  if (node["Relation Name"] === undefined) return below;
  const removed = (node["Rows Removed by Filter"] ?? 0) + (node["Rows Removed by Index Recheck"] ?? 0);
  return below + (node["Actual Rows"] + removed) * node["Actual Loops"];
}

function text(node: PlanNode, depth = 0): string {
  const { "Node Type": type, "Relation Name": table = "", "Actual Rows": rows, "Actual Loops": loops } = node;
  const removed = node["Rows Removed by Filter"] ?? 0;
  const line = `${"  ".repeat(depth)}${type} ${table} rows=${rows}×${loops} removed=${removed}\n`;
  return line + (node.Plans ?? []).map((child) => text(child, depth + 1)).join("");
}
