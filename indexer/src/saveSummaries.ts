import type { Context } from "ponder:registry";
import type { Row } from "tallystick-derive/tables";
import type { RowChange } from "tallystick-derive/transaction";
import {
  agentDay,
  agentPair,
  capabilityAgent,
  capabilityDay,
  capabilityTotal,
  marketCount,
  marketDay,
  marketTotal,
} from "../ponder.schema.ts";
import { addTallies, NO_HIRES, type TallyChange, talliesOf } from "./insights.ts";
import { addCounts, marketCountsOf } from "./marketCounts.ts";

const tables = {
  agentDay,
  agentPair,
  capabilityDay,
  capabilityAgent,
  capabilityTotal,
  marketDay,
  marketTotal,
};

const NO_OFFERS = { listings: 0, sellers: 0, lowestPrice: null, medianPrice: null };

/** Adds what an event changed to the summaries, by primary key like everything that a handler writes. */
export async function saveSummaries(
  db: Pick<Context["db"], "insert">,
  changes: readonly RowChange[],
): Promise<void> {
  await saveTallies(db, talliesOf(changes));
  const counts = marketCountsOf(changes);
  if (counts !== null) {
    await db
      .insert(marketCount)
      .values({ id: "market", ...counts })
      .onConflictDoUpdate((sum) => addCounts(counts, sum));
  }
  for (const { table, after } of changes) {
    if (table !== "offer") continue;
    const { id, listings, sellers, lowestPrice, medianPrice } = after as Row<"offer">;
    const offers = { listings, sellers, lowestPrice, medianPrice };
    await db
      .insert(capabilityTotal)
      .values({ id, capability: id, ...NO_HIRES, ...offers })
      .onConflictDoUpdate(offers);
  }
}

async function saveTallies(db: Pick<Context["db"], "insert">, changes: TallyChange[]): Promise<void> {
  for (const { key, by } of changes) {
    const { table, ...row } = key;
    const rest = table === "capabilityTotal" ? NO_OFFERS : {};
    // Each table has the columns of its key and of a tally. TypeScript cannot follow which belong together.
    await db
      .insert(tables[table] as typeof agentDay)
      .values({ ...(row as { id: string; agent: string; day: number }), ...rest, ...by })
      .onConflictDoUpdate((sum) => addTallies(sum, by));
  }
}
