import DataLoader from "dataloader";
import type { PgTable } from "drizzle-orm/pg-core";
import type { Row } from "tallystick-derive/tables";
import * as schema from "../../ponder.schema.ts";
import type { Database } from "../database.ts";
import { byKey } from "../rows/byKey.ts";
import { type ClusterLoader, clusterLoader, clusterParts } from "../rows/clusters.ts";
import { eventsAt } from "../rows/events.ts";
import { pricesOf } from "../rows/prices.ts";
import { recordsByHash } from "../rows/records.ts";
import { rowsById } from "../rows/rowsById.ts";
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
  cluster: ClusterLoader;
  /** Ids of a cluster and of all that were merged into it. */
  clusterParts: DataLoader<string, string[]>;
  /** The capabilities an agent was hired for in the window, with their prices. */
  prices: DataLoader<string, Row<"capability">[]>;
};

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
    recordByHash: new DataLoader((hashes) => recordsByHash(db, hashes)),
    event: new DataLoader((positions) => eventsAt(db, positions)),
    transferValue: new DataLoader((places) => transferValues(db, places), {
      cacheKeyFn: ({ block, log }) => `${block}/${log}`,
    }),
    cluster: clusterLoader(db),
    clusterParts: new DataLoader((ids) => clusterParts(db, ids)),
    prices: new DataLoader((agents) => pricesOf(db, agents)),
  };
}
