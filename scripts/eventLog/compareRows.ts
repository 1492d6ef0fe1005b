import type { MemoryStore } from "tallystick-derive/memoryStore";
import { type TableName, tables } from "tallystick-derive/tables";
import type { NodeSnapshot } from "../../indexer/nodeDatabase.ts";

/**
 * A column in which a node's row differs from the row that its log gives; `column` is null when the whole row
 * is missing or extra.
 */
export type RowDifference = {
  table: TableName;
  id: string;
  column: string | null;
  node: string;
  derived: string;
};

export type Comparison = { rows: number; differences: number; first: RowDifference[] };

/**
 * Compares every row of a node's tables with the rows that were derived offline. Counts all differences and
 * keeps the first `keep`.
 */
export async function compareRows(
  node: NodeSnapshot,
  derived: MemoryStore,
  keep: number,
): Promise<Comparison> {
  const result: Comparison = { rows: 0, differences: 0, first: [] };
  const differ = (difference: RowDifference) => {
    result.differences++;
    if (result.first.length < keep) result.first.push(difference);
  };
  for (const table of Object.keys(tables) as TableName[]) {
    const expected = derived.rows(table);
    const seen = new Set<string>();
    for await (const row of node.rows(table)) {
      result.rows++;
      seen.add(row.id);
      const own = expected.get(row.id);
      if (own === undefined) {
        differ({ table, id: row.id, column: null, node: "a row", derived: "no row" });
        continue;
      }
      for (const column of Object.keys(tables[table]) as (keyof typeof row & string)[]) {
        const [a, b] = [row[column], own[column]];
        if (a !== b) differ({ table, id: row.id, column, node: show(a), derived: show(b) });
      }
    }
    for (const id of expected.keys()) {
      if (!seen.has(id)) differ({ table, id, column: null, node: "no row", derived: "a row" });
    }
  }
  return result;
}

function show(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}
