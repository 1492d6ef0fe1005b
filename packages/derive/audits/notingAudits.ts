import type { Store } from "../store.ts";
import type { Row, TableName } from "../tables.ts";

/**
 * The rows of audits that are published, and what settlement says of agents: each has a leaf in the digest. Who was asked stands in the leaf of
 * the audit.
 */
const LEAVES: ReadonlySet<TableName> = new Set([
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

/** The same rows, each change of one of audits noted in `touched` as `<table> <id>`: so that none is forgotten. */
export function notingAudits(store: Store, touched: Set<string>): Store {
  return {
    get: (table, id) => store.get(table, id),
    insert: (table, row) => {
      if (table === "auditAssignment") touched.add(`audit ${(row as Row<"auditAssignment">).audit}`);
      else if (LEAVES.has(table) && !isWaiting(table, row)) touched.add(`${table} ${row.id}`);
      return store.insert(table, row);
    },
    update: (table, id, change) => {
      // A word, and what it earned; its audit's row says of whose audit it is.
      if (table === "auditAssignment") touched.add(`${table} ${id}`);
      else if (LEAVES.has(table)) touched.add(`${table} ${id}`);
      return store.update(table, id, change);
    },
  };
}

/** A hire that may be drawn, as most never are: it has no leaf. */
function isWaiting(table: TableName, row: Row<TableName>): boolean {
  return table === "audit" && (row as Row<"audit">).drawnBlock === null;
}
