import DataLoader from "dataloader";
import { inArray, type ReadonlyDrizzle } from "ponder";
import type { Operations } from "../../../operations.ts";
import * as schema from "../../../ponder.schema.ts";
import type { Row } from "../../derive/tables.ts";
import { queryError } from "./errors.ts";

/** The indexer's database, as Ponder opens it for the API: read-only. */
export type Database = ReadonlyDrizzle<typeof schema>;

/** What resolvers are given, anew for every request. */
export type QueryContext = {
  db: Database;
  operations: Pick<Operations, "readBlocked">;
  /** Chain and token of this node. */
  node: { chainId: number; token: string };
  load: Loaders;
  /** Takes rows from what one request may ask for. */
  takeRows: (count: number) => void;
};

type Loaders = {
  agent: DataLoader<string, Row<"agent"> | null>;
  escrow: DataLoader<string, Row<"escrow"> | null>;
  hire: DataLoader<string, Row<"hire"> | null>;
  /** The cluster that an id stands for now: the one it was merged into in the end. */
  cluster: DataLoader<string, Row<"cluster"> | null>;
  /** The capabilities an agent was hired for, with their prices. */
  prices: DataLoader<string, Row<"capability">[]>;
};

/** More than any page of a sensible query, far less than nested pages of a hundred could ask for. */
const MAX_ROWS = 2_000;

export function queryContext(base: Pick<QueryContext, "db" | "operations" | "node">): QueryContext {
  let rows = 0;
  return {
    ...base,
    load: loaders(base.db),
    takeRows: (count) => {
      rows += count;
      if (rows > MAX_ROWS) {
        throw queryError(
          "TOO_MANY_ROWS",
          `A query may ask for at most ${MAX_ROWS} rows; ask for smaller pages.`,
        );
      }
    },
  };
}

function loaders(db: Database): Loaders {
  return {
    agent: new DataLoader((ids) =>
      byId(ids, (list) => db.select().from(schema.agent).where(inArray(schema.agent.id, list))),
    ),
    escrow: new DataLoader((ids) =>
      byId(ids, (list) => db.select().from(schema.escrow).where(inArray(schema.escrow.id, list))),
    ),
    hire: new DataLoader((ids) =>
      byId(ids, (list) => db.select().from(schema.hire).where(inArray(schema.hire.id, list))),
    ),
    cluster: new DataLoader((ids) => clusterRoots(db, ids)),
    prices: new DataLoader(async (agents) => {
      const { capability } = schema;
      const rows = await db
        .select()
        .from(capability)
        .where(inArray(capability.agent, [...agents]));
      const byAgent = Map.groupBy(rows, (row) => row.agent);
      return agents.map((agent) => byAgent.get(agent) ?? []);
    }),
  };
}

async function byId<Found extends { id: string }>(
  ids: readonly string[],
  select: (ids: string[]) => Promise<Found[]>,
): Promise<(Found | null)[]> {
  const rows = new Map((await select([...ids])).map((row) => [row.id, row]));
  return ids.map((id) => rows.get(id) ?? null);
}

/** Follows `parent` for all ids together: as many queries as the longest way, which the derivation keeps short. */
async function clusterRoots(db: Database, ids: readonly string[]): Promise<(Row<"cluster"> | null)[]> {
  const known = new Map<string, Row<"cluster">>();
  for (let wanted = [...new Set(ids)]; wanted.length > 0; ) {
    const rows = await db.select().from(schema.cluster).where(inArray(schema.cluster.id, wanted));
    for (const row of rows) known.set(row.id, row);
    wanted = [...new Set(rows.map((row) => row.parent))].filter((id) => !known.has(id));
  }
  const rootOf = (id: string): Row<"cluster"> | null => {
    const row = known.get(id);
    return row === undefined || row.parent === row.id ? (row ?? null) : rootOf(row.parent);
  };
  return ids.map(rootOf);
}
