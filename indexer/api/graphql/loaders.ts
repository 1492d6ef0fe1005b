import DataLoader from "dataloader";
import type { PgTable } from "drizzle-orm/pg-core";
import { and, inArray, isNotNull, sql } from "ponder";
import type { Row } from "tallystick-derive/tables";
import * as schema from "../../ponder.schema.ts";
import type { Database } from "../database.ts";
import { rowsById } from "./rows.ts";
import { type Place, transferValues } from "./transferValues.ts";

type Loader<Found> = DataLoader<string, Found | null>;

/** Look-ups by key, those of one request together and each key once. */
export type Loaders = {
  state: Loader<Row<"state">>;
  agent: Loader<Row<"agent">>;
  wallet: Loader<Row<"wallet">>;
  escrow: Loader<Row<"escrow">>;
  hire: Loader<Row<"hire">>;
  receipt: Loader<Row<"receipt">>;
  rating: Loader<Row<"rating">>;
  payment: Loader<Row<"payment">>;
  listing: Loader<Row<"listing">>;
  tierChange: Loader<Row<"tierChange">>;
  record: Loader<Row<"record">>;
  ledger: Loader<typeof schema.ledger.$inferSelect>;
  genericEntry: Loader<typeof schema.genericEntry.$inferSelect>;
  anchor: Loader<typeof schema.anchor.$inferSelect>;
  openedLedger: Loader<typeof schema.openedLedger.$inferSelect>;
  equivocation: Loader<typeof schema.equivocation.$inferSelect>;
  /** The record of an entry hash that was loaded first; the same entry may stand in several ledgers. */
  recordByHash: Loader<Row<"record">>;
  /** The event logged at a position, as JSON text; of the transfers only those that are no payments. */
  event: Loader<string>;
  /** How much was transferred at a log. */
  transferValue: DataLoader<Place, bigint | null, string>;
  /** The cluster that an id stands for now: the one it was merged into in the end. */
  cluster: Loader<Row<"cluster">>;
  /** Ids of a cluster and of all that were merged into it. */
  clusterParts: DataLoader<string, string[]>;
  /** The capabilities an agent was hired for in the window, with their prices. */
  prices: DataLoader<string, Row<"capability">[]>;
};

/** An agent that is hired for more capabilities is shown with these; nobody sells so many kinds of work. */
const MAX_CAPABILITIES = 200;

export function openLoaders(db: Database): Loaders {
  const rows = <T extends PgTable>(table: T) =>
    new DataLoader<string, T["$inferSelect"] | null>((ids) =>
      byKey(
        ids,
        (list) => rowsById(db, table, list),
        (row) => row.id as string,
      ),
    );
  return {
    state: rows(schema.state),
    agent: rows(schema.agent),
    wallet: rows(schema.wallet),
    escrow: rows(schema.escrow),
    hire: rows(schema.hire),
    receipt: rows(schema.receipt),
    rating: rows(schema.rating),
    payment: rows(schema.payment),
    listing: rows(schema.listing),
    tierChange: rows(schema.tierChange),
    record: rows(schema.record),
    ledger: rows(schema.ledger),
    genericEntry: rows(schema.genericEntry),
    anchor: rows(schema.anchor),
    openedLedger: rows(schema.openedLedger),
    equivocation: rows(schema.equivocation),
    recordByHash: new DataLoader((hashes) =>
      byKey(
        hashes,
        async (list) => {
          const { record } = schema;
          const found = await db.select().from(record).where(inArray(record.hash, list));
          return found.sort((a, b) => b.block - a.block || b.log - a.log || b.seq - a.seq);
        },
        (row) => row.hash,
      ),
    ),
    event: new DataLoader(async (positions) => {
      const { eventLog } = schema;
      const found = await byKey(
        positions,
        (list) => db.select().from(eventLog).where(inArray(eventLog.position, list)),
        (row) => row.position,
      );
      return found.map((row) => row?.json ?? null);
    }),
    transferValue: new DataLoader((places) => transferValues(db, places), {
      cacheKeyFn: ({ block, log }) => `${block}/${log}`,
    }),
    cluster: new DataLoader((ids) => clusterRoots(db, ids)),
    clusterParts: new DataLoader((ids) => clusterParts(db, ids)),
    prices: new DataLoader(async (agents) => {
      const { capability } = schema;
      const rows = await db
        .select()
        .from(capability)
        .where(and(inArray(capability.agent, [...agents]), isNotNull(capability.medianPrice)))
        .limit(MAX_CAPABILITIES * agents.length);
      const byAgent = Map.groupBy(rows, (row) => row.agent);
      return agents.map((agent) => byAgent.get(agent) ?? []);
    }),
  };
}

/** Postgres refuses text with a zero byte; nothing is found under such a key anyway. */
function isPossible(key: string): boolean {
  return key.length <= 2_400 && !key.includes("\0");
}

async function byKey<Found>(
  keys: readonly string[],
  select: (keys: string[]) => Promise<Found[]>,
  keyOf: (row: Found) => string,
): Promise<(Found | null)[]> {
  const possible = keys.filter(isPossible);
  const rows = possible.length === 0 ? [] : await select(possible);
  const found = new Map(rows.map((row) => [keyOf(row), row]));
  return keys.map((key) => found.get(key) ?? null);
}

/** Follows `parent` for all ids together: as many queries as the longest way, which the derivation keeps short. */
async function clusterRoots(db: Database, ids: readonly string[]): Promise<(Row<"cluster"> | null)[]> {
  const known = new Map<string, Row<"cluster">>();
  for (let wanted = [...new Set(ids)].filter(isPossible); wanted.length > 0; ) {
    const rows = await rowsById(db, schema.cluster, wanted);
    for (const row of rows) known.set(row.id, row);
    wanted = [...new Set(rows.map((row) => row.parent))].filter((id) => !known.has(id));
  }
  const rootOf = (id: string): Row<"cluster"> | null => {
    const row = known.get(id);
    return row === undefined || row.parent === row.id ? (row ?? null) : rootOf(row.parent);
  };
  return ids.map(rootOf);
}

/** An agent names the cluster it joined first; merges are followed here, instead of rewriting every member. */
async function clusterParts(db: Database, ids: readonly string[]): Promise<string[][]> {
  const { cluster } = schema;
  const { rows } = await db.execute<{ root: string; ids: string[] }>(sql`
    WITH RECURSIVE merged AS (
      SELECT id AS root, id FROM unnest(${sql.param([...ids])}::text[]) AS asked (id)
      UNION ALL
      SELECT merged.root, part.id FROM merged
        CROSS JOIN LATERAL (SELECT ${cluster.id} FROM ${cluster} WHERE ${cluster.mergedInto} = merged.id OFFSET 0) AS part
    ) SELECT root, array_agg(id ORDER BY id) AS ids FROM merged GROUP BY root`);
  const parts = new Map(rows.map((row) => [row.root, row.ids]));
  return ids.map((id) => parts.get(id) ?? [id]);
}
