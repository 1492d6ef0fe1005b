import type { Context } from "ponder:registry";
import { agentDay, capabilityAgent, capabilityDay, capabilityTotal } from "../ponder.schema.ts";
import { addTallies, type TallyChange } from "./insights.ts";

const tables = { agentDay, capabilityDay, capabilityAgent, capabilityTotal };

/** Adds changes to the summary rows, by primary key like everything that a handler writes. */
export async function saveTallies(db: Context["db"], changes: TallyChange[]): Promise<void> {
  for (const { key, by } of changes) {
    const { table, ...row } = key;
    // Each table has the columns of its key and those of a tally; TypeScript cannot follow which goes with which.
    await db
      .insert(tables[table] as typeof agentDay)
      .values({ ...(row as { id: string; agent: string; day: number }), ...by })
      .onConflictDoUpdate((sum) => addTallies(sum, by));
  }
}
