import type { ApplyContext } from "./applyContext.ts";
import { assignmentsOf } from "./audits/assignments.ts";
import { isInLeaf } from "./notingRows.ts";
import { type Row, type TableName, tables } from "./tables.ts";

/** A leaf: the table of its row, its key in the tree, and its text. */
export type RowLeaf = { table: TableName; key: string; text: string };

/**
 * The key and the RFC 8785 text of a leaf: `[table, row]`, or for an audit `["audit", row, assignments]`. A row has
 * every column by its name, and money as decimal strings. Null for an audit that was neither drawn nor closed: only its
 * seller's figures count it.
 */
export function rowLeaf(context: ApplyContext, touched: string): RowLeaf | null {
  const [table, id] = touched.split(" ") as [TableName, string];
  const row = context.store.get(table, id);
  if (row === null) throw new Error(`There is no row ${id} in ${table} to digest.`);
  if (table === "auditAssignment") return rowLeaf(context, `audit ${(row as Row<"auditAssignment">).audit}`);
  const parts: unknown[] = [table, inOrder(table, row)];
  if (table === "audit") {
    const { drawnBlock, closedTime, hire } = row as Row<"audit">;
    if (drawnBlock === null && closedTime === null) return null;
    const all = assignmentsOf(context, hire);
    parts.push(all.filter(({ audit }) => audit === id).map((it) => inOrder("auditAssignment", it)));
  }
  return { table, key: `${table} ${id}`, text: JSON.stringify(parts) };
}

function inOrder<T extends TableName>(table: T, row: Row<T>): object {
  const ordered: { [column: string]: unknown } = {};
  for (const column of columns(table)) {
    const value = row[column as keyof Row<T>];
    ordered[column] = typeof value === "bigint" ? String(value) : value;
  }
  return ordered;
}

/** The columns of each table that its leaves have, in the order of RFC 8785. */
const columns = (() => {
  const sorted = new Map<TableName, string[]>();
  return (table: TableName): string[] => {
    const known = sorted.get(table);
    if (known !== undefined) return known;
    const columns = Object.keys(tables[table]).filter((column) => isInLeaf(table, column));
    sorted.set(table, columns.sort());
    return columns;
  };
})();
