import { sql } from "ponder";
import type { Row } from "tallystick-derive/tables";
import * as schema from "../../ponder.schema.ts";
import type { Database } from "../database.ts";
import { decodeRow } from "./rowsById.ts";

/**
 * The most capabilities that are shown for one agent, the first by name. No honest agent sells so many kinds of
 * work.
 */
export const MAX_CAPABILITIES = 200;

/**
 * The capabilities that each agent was hired for in the window, with their prices, by name. Each agent has
 * its own limit, so an agent with thousands of capabilities does not push out the others.
 */
export async function pricesOf(db: Database, agents: readonly string[]): Promise<Row<"capability">[][]> {
  const { capability } = schema;
  const { rows } = await db.execute<{ agent: string }>(
    sql`SELECT page.* FROM unnest(${sql.param([...agents])}::text[]) AS asked (id) CROSS JOIN LATERAL (
      SELECT * FROM ${capability} WHERE ${capability.agent} = asked.id AND ${capability.medianPrice} IS NOT NULL
      ORDER BY ${capability.capability} LIMIT ${sql.raw(String(MAX_CAPABILITIES))}) AS page`,
  );
  const byAgent = Map.groupBy(rows, (row) => row.agent);
  return agents.map((agent) => (byAgent.get(agent) ?? []).map((row) => decodeRow(capability, row)));
}
