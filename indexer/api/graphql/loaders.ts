import DataLoader from "dataloader";
import type { Row } from "tallystick-derive/tables";
import type { Database } from "../database.ts";
import { assignmentsOf } from "../rows/audits.ts";
import { byKey } from "../rows/byKey.ts";
import { type ClusterLoader, clusterLoader, clusterParts } from "../rows/clusters.ts";
import { eventsAt } from "../rows/events.ts";
import { genericByHash } from "../rows/ledgerEntries.ts";
import { pricesOf } from "../rows/prices.ts";
import { recordsByHash } from "../rows/records.ts";
import { type KeyedTable, type RowOf, rowsById } from "../rows/rowsById.ts";
import { type Place, type TransferAt, transfersAt, transferValues } from "../rows/transferValues.ts";

/** The tables whose rows are loaded by id. */
const TABLES = [
  "state",
  "agent",
  "wallet",
  "inflow",
  "escrow",
  "hire",
  "receipt",
  "rating",
  "payment",
  "listing",
  "tierChange",
  "record",
  "ledger",
  "genericEntry",
  "anchor",
  "openedLedger",
  "equivocation",
  "audit",
  "auditAssignment",
  "auditor",
  "roster",
  "rosterMember",
  "auditMode",
  "auditOperator",
  "settlementTrust",
  "capabilityTotal",
  "escrowStep",
  "steward",
  "attestation",
  "sla",
  "guarantee",
  "breach",
  "breachStep",
  "familyMember",
  "registeredMember",
  "family",
  "flow",
  "identity",
  "identityLink",
  "feedback",
] as const satisfies KeyedTable[];

type RowLoaders = { [Name in (typeof TABLES)[number]]: Loader<RowOf<Name>> };

type Loader<Found> = DataLoader<string, Found | null>;

/** Loads rows by key. The look-ups of one request are combined, and each key is loaded once. */
export type Loaders = RowLoaders & {
  /** The record of an entry hash that was loaded first; the same entry may stand in several ledgers. */
  recordByHash: Loader<Row<"record">>;
  /** The generic work of an entry hash. */
  genericByHash: Loader<RowOf<"genericEntry">>;
  /** The event at a position of the log, as JSON text. Transfers that are payments are missing. */
  event: Loader<string>;
  /** The amount of the transfer at a log. */
  transferValue: DataLoader<Place, bigint | null, string>;
  /** The transfer at a log. */
  transfer: DataLoader<Place, TransferAt | null, string>;
  /** The cluster that an id stands for now, after all merges. */
  cluster: ClusterLoader;
  /** The ids of a cluster and of all clusters that were merged into it. */
  clusterParts: DataLoader<string, string[]>;
  /** The assignments of an audit, in order. */
  assignments: DataLoader<string, Row<"auditAssignment">[]>;
  /** The capabilities an agent was hired for in the window, with their prices. */
  prices: DataLoader<string, Row<"capability">[]>;
};

export function openLoaders(db: Database): Loaders {
  const rows = <Name extends KeyedTable>(name: Name): Loader<RowOf<Name>> =>
    new DataLoader((ids) =>
      byKey(
        ids,
        (list) => rowsById(db, name, list),
        (row) => row.id,
      ),
    );
  return {
    ...(Object.fromEntries(TABLES.map((name) => [name, rows(name)])) as object as RowLoaders),
    recordByHash: new DataLoader((hashes) => recordsByHash(db, hashes)),
    genericByHash: new DataLoader((hashes) => genericByHash(db, hashes)),
    event: new DataLoader((positions) => eventsAt(db, positions)),
    transferValue: new DataLoader((places) => transferValues(db, places), { cacheKeyFn: placeKey }),
    transfer: new DataLoader((places) => transfersAt(db, places), { cacheKeyFn: placeKey }),
    cluster: clusterLoader(db),
    clusterParts: new DataLoader((ids) => clusterParts(db, ids)),
    assignments: new DataLoader((audits) => assignmentsOf(db, audits)),
    prices: new DataLoader((agents) => pricesOf(db, agents)),
  };
}

function placeKey({ block, log }: Place): string {
  return `${block}/${log}`;
}
