import type { Store } from "./store.ts";
import type { Row, TableName } from "./tables.ts";

/**
 * The tables of audits that are published, and the table of settlement's figures for agents. Each row has a leaf in
 * the digest, but assignments are in the leaf of their audit.
 */
const OF_SHP: ReadonlySet<TableName> = new Set([
  "audit",
  "auditAssignment",
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
 * The tables of trust scores and SLAs whose rows have a leaf. Each comes with the columns that are not in the leaf.
 * An agent's figures and the state of its guarantees are in the leaf of its slot. So most hours change no other leaf.
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
 * The trees of the digest. Trust scores with SLAs have a tree of their own, and so have identities. So anyone can see
 * that they change nothing in the tree of reputation.
 */
export type DigestTree = "shp" | "steward" | "identities";

const TREES: ReadonlyMap<TableName, DigestTree> = new Map<TableName, DigestTree>([
  ...[...OF_SHP].map((table) => [table, "shp"] as const),
  ...[...OF_STEWARD.keys()].map((table) => [table, "steward"] as const),
  ...[...OF_IDENTITIES].map((table) => [table, "identities"] as const),
]);

/** The tree that the leaves of a table are in. */
export function treeOf(table: TableName): DigestTree {
  return TREES.get(table) ?? "shp";
}

/** Whether a column is part of the leaf of its row. */
export function isInLeaf(table: TableName, column: string): boolean {
  return OF_STEWARD.get(table)?.has(column) !== true;
}

/** Wraps a store. For each change of a row that has a leaf, it adds `<table> <id>` to `touched`. */
export class NotingRows implements Store {
  readonly #store: Store;
  readonly #touched: Set<string>;

  constructor(store: Store, touched: Set<string>) {
    this.#store = store;
    this.#touched = touched;
  }

  get<T extends TableName>(table: T, id: string): Row<T> | null {
    return this.#store.get(table, id);
  }

  insert<T extends TableName>(table: T, row: Row<T>): void {
    this.#noteRow(table, row);
    this.#store.insert(table, row);
  }

  put<T extends TableName>(table: T, row: Row<T>): void {
    this.#noteRow(table, row);
    this.#store.put(table, row);
  }

  update<T extends TableName>(table: T, id: string, change: Partial<Omit<Row<T>, "id">>): void {
    // An assignment has no leaf of its own: its verdict and its fee are part of its audit's leaf. The digest finds the
    // audit by the assignment's row.
    if (TREES.has(table) && Object.keys(change).some((column) => isInLeaf(table, column)))
      this.#touched.add(`${table} ${id}`);
    this.#store.update(table, id, change);
  }

  #noteRow(table: TableName, row: Row<TableName>): void {
    if (!TREES.has(table) || isWaiting(table, row)) return;
    const isAssignment = table === "auditAssignment";
    this.#touched.add(isAssignment ? `audit ${(row as Row<"auditAssignment">).audit}` : `${table} ${row.id}`);
  }
}

/** Whether a row is an audit that was not drawn. Such a row has no leaf yet. Most hires are never drawn. */
function isWaiting(table: TableName, row: Row<TableName>): boolean {
  return table === "audit" && (row as Row<"audit">).drawnBlock === null;
}
