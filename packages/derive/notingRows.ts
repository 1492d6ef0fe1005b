import type { Store } from "./store.ts";
import type { Row, TableName } from "./tables.ts";

/**
 * The rows of audits that are published, and what settlement says of agents. Each has a leaf in the digest. Assignments are
 * in the leaf of their audit.
 */
const OF_SHP: ReadonlySet<TableName> = new Set([
  "audit",
  "auditor",
  "auditMode",
  "auditModeChange",
  "auditOperator",
  "auditPeriod",
  "auditorError",
  "canary",
  "canaryList",
  "settlementTrust",
]);

/**
 * The rows of trust scores and SLAs that have a leaf, each with the columns that are not in it. The figures of an agent and
 * its guarantees for the last hour are in the leaf of its slot, so an hour touches no other leaf.
 */
const OF_STEWARD: ReadonlyMap<TableName, ReadonlySet<string>> = new Map<TableName, ReadonlySet<string>>([
  ["stewardSlot", new Set()],
  ["sla", new Set(["status"])],
  ["guarantee", new Set(["current", "status", "closes", "closedDay", "daysUntilBreach"])],
  ["breach", new Set(["checkedDay"])],
  ["breachStep", new Set()],
  ["slaMonitoring", new Set()],
  ["slaClaim", new Set()],
  ["slaPayment", new Set()],
]);

/** The rows of identities that have a leaf, with every column. */
const OF_IDENTITIES: ReadonlySet<TableName> = new Set([
  "registry",
  "identity",
  "identityLink",
  "feedback",
  "feedbackResponse",
]);

/**
 * The trees of the digest. Advice has a tree of its own, so anyone can see that it changes nothing in the
 * others.
 */
export type DigestTree = "shp" | "steward" | "identities";

/** The tree that the leaves of a table are in. */
export function treeOf(table: TableName): DigestTree {
  if (OF_STEWARD.has(table)) return "steward";
  return OF_IDENTITIES.has(table) ? "identities" : "shp";
}

/** Whether a column is part of the leaf of its row. */
export function isInLeaf(table: TableName, column: string): boolean {
  return OF_STEWARD.get(table)?.has(column) !== true;
}

/**
 * Wraps a store. It notes each change of a leaf in `touched` as `<table> <id>`, so no change is forgotten.
 */
export function notingRows(store: Store, touched: Set<string>): Store {
  return {
    get: (table, id) => store.get(table, id),
    insert: (table, row) => {
      if (table === "auditAssignment") touched.add(`audit ${(row as Row<"auditAssignment">).audit}`);
      else if (OF_STEWARD.has(table) || OF_IDENTITIES.has(table)) touched.add(`${table} ${row.id}`);
      else if (OF_SHP.has(table) && !isWaiting(table, row)) touched.add(`${table} ${row.id}`);
      return store.insert(table, row);
    },
    update: (table, id, change) => {
      // A verdict and its fee are part of the leaf of its audit.
      if (table === "auditAssignment" || OF_SHP.has(table) || OF_IDENTITIES.has(table))
        touched.add(`${table} ${id}`);
      else if (OF_STEWARD.has(table) && Object.keys(change).some((column) => isInLeaf(table, column)))
        touched.add(`${table} ${id}`);
      return store.update(table, id, change);
    },
  };
}

/** Whether a row is an audit that was not drawn. Such a row has no leaf. Most hires are never drawn. */
function isWaiting(table: TableName, row: Row<TableName>): boolean {
  return table === "audit" && (row as Row<"audit">).drawnBlock === null;
}
