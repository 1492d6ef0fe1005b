import pg from "pg";

type PlanNode = {
  "Node Type": string;
  "Relation Name"?: string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  "Rows Removed by Index Recheck"?: number;
  Plans?: PlanNode[];
};

type Sent = { query: string; params: unknown[] };

/**
 * Runs a statement again and counts the rows that it reads from tables, and the rows that it returns. It runs with two
 * plans: the plan for these values, and the generic plan that Postgres may use for a prepared statement. The result is
 * for the plan that reads more.
 */
export async function rowsRead(pool: pg.Pool, { query, params }: Sent): Promise<RowsRead> {
  const client = await pool.connect();
  try {
    const own = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${query}`, params);
    await client.query(`SET plan_cache_mode = force_generic_plan; PREPARE any_values AS ${query}`);
    const values = params.map(literal);
    const list = values.length === 0 ? "" : `(${values.join(", ")})`;
    const generic = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE any_values${list}`);
    const [a, b] = [own, generic].map(({ rows }) => {
      const { Plan } = rows[0]["QUERY PLAN"][0] as { Plan: PlanNode };
      return { read: read(Plan), returned: Plan["Actual Rows"] * Plan["Actual Loops"], plan: text(Plan) };
    }) as [RowsRead, RowsRead];
    await client.query("DEALLOCATE any_values; RESET plan_cache_mode");
    return b.read > a.read ? b : a;
  } finally {
    client.release();
  }
}

type RowsRead = { read: number; returned: number; plan: string };

function literal(value: unknown): string {
  // The statement determines the type of a literal, in the same way as the type of a parameter.
  if (Array.isArray(value) && typeof value[0] === "number") return `'{${value.join(", ")}}'`;
  if (Array.isArray(value)) return `ARRAY[${value.map(literal).join(", ")}]::text[]`;
  return value === null || value === undefined ? "NULL" : pg.escapeLiteral(String(value));
}

/** Only plan nodes that scan a table read its rows. A bitmap of an index reads them through its heap scan. */
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
