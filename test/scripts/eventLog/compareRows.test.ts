import { expect } from "chai";
import type { ColumnKind } from "tallystick-derive/columnKind";
import type { MemoryStore } from "tallystick-derive/memoryStore";
import { type Row, type TableName, tables } from "tallystick-derive/tables";
import type { NodeSnapshot } from "../../../indexer/nodeDatabase.ts";
import { describeRows } from "../../../scripts/commands/rederive.ts";
import { compareRows } from "../../../scripts/eventLog/compareRows.ts";

const names = Object.keys(tables) as TableName[];
type AnyRow = Record<string, unknown> & { id: string };

const sample = (kind: ColumnKind, other = false): unknown => {
  if (kind.startsWith("bigint")) return other ? 2n : 1n;
  if (kind.startsWith("number")) return other ? 2 : 1;
  if (kind.startsWith("boolean")) return other;
  return other ? "other" : "one";
};
const rowOf = (table: TableName, id: string): AnyRow => ({
  ...Object.fromEntries(Object.entries(tables[table]).map(([column, kind]) => [column, sample(kind)])),
  id,
});

/**
 * Compares a node with a derivation. Both have the same two rows in every table, before `change` changes one
 * side.
 */
async function compared(
  change: (node: Map<TableName, AnyRow[]>, derived: Map<TableName, AnyRow[]>) => void,
  keep = 5,
) {
  const sides = [0, 1].map(
    () => new Map(names.map((table) => [table, [rowOf(table, "a"), rowOf(table, "b")]])),
  );
  const [node, derived] = sides as [Map<TableName, AnyRow[]>, Map<TableName, AnyRow[]>];
  change(node, derived);
  const snapshot = {
    rows: async function* (table: TableName) {
      yield* (node.get(table) ?? []) as unknown as Row<TableName>[];
    },
  } as unknown as NodeSnapshot;
  const store = {
    rows: (table: TableName) => new Map((derived.get(table) ?? []).map((row) => [row.id, row])),
  } as unknown as MemoryStore;
  return compareRows(snapshot, store, keep);
}

describe("the comparison of rederive", () => {
  it("finds no difference between equal rows, and counts them all", async () => {
    expect(await compared(() => {})).to.deep.equal({ rows: 2 * names.length, differences: 0, first: [] });
  });

  for (const table of names) {
    it(`finds each column of ${table} that differs, each row that is missing, and each that is extra`, async () => {
      for (const [column, kind] of Object.entries(tables[table])) {
        if (column === "id") continue;
        for (const value of [sample(kind, true), null]) {
          const { differences, first } = await compared((node) => {
            (node.get(table)?.[1] as AnyRow)[column] = value;
          });
          expect(differences, column).to.equal(1);
          expect(first[0]).to.include({ table, id: "b", column });
        }
      }
      const missing = await compared((node) => void node.get(table)?.pop());
      expect(missing.first).to.deep.equal([
        { table, id: "b", column: null, node: "no row", derived: "a row" },
      ]);
      const extra = await compared((_, derived) => void derived.get(table)?.shift());
      expect(extra.first).to.deep.equal([{ table, id: "a", column: null, node: "a row", derived: "no row" }]);
      expect([missing.differences, extra.differences]).to.deep.equal([1, 1]);
    });
  }

  it("distinguishes a number from its text, and counts the differences that it does not show", async () => {
    const numbers = names.flatMap((table) =>
      Object.entries(tables[table]).flatMap(([column, kind]) =>
        kind === "number" ? [{ table, column }] : [],
      ),
    );
    const [{ table, column }] = numbers as [{ table: TableName; column: string }];
    const { first } = await compared((node) => {
      (node.get(table)?.[0] as AnyRow)[column] = "1";
    });
    expect(first[0]).to.include({ node: '"1"', derived: "1" });
    const all = await compared((node) => node.clear(), 3);
    expect(all.differences).to.equal(2 * names.length);
    expect(all.first).to.have.length(3);
  });

  it("shows differences as plain text, without a stranger's control characters", async () => {
    const { rows, differences, first } = await compared((node) => {
      (node.get("agent")?.[0] as AnyRow).id = "\u009b31m\u202e";
    });
    const text = describeRows({
      rows,
      differences,
      first,
      events: 1,
      contractSigned: 0,
      asOf: { block: 1, time: 1 },
      digest: null,
    });
    expect(text).to.contain("node has").and.contain("agent");
    expect(text).to.not.match(/[\u009b\u202e]/);
  });
});
