import { and, asc, desc, eq } from "ponder";
import * as schema from "../../ponder.schema.ts";
import { pageKey, type TreePage } from "../../src/segments/storedTree.ts";
import type { Database } from "../database.ts";
import { alongColumn, type RowList, wantedColumns } from "./list.ts";
import { type RowOf, rowsById } from "./rowsById.ts";

/** The most ledgers that are read. No node follows so many. */
const MAX_LEDGERS = 1_000;

/** The followed ledgers of which something was loaded, by id; at most a thousand. */
export async function followedLedgers(db: Database): Promise<RowOf<"ledger">[]> {
  return await db.select().from(schema.ledger).orderBy(asc(schema.ledger.id)).limit(MAX_LEDGERS);
}

/** How far a followed ledger is anchored and loaded; undefined before its first entry. */
export async function followedLedger(db: Database, id: string): Promise<RowOf<"ledger"> | undefined> {
  const [row] = await rowsById(db, "ledger", [id]);
  return row;
}

/** The latest anchor of a ledger at `size`; undefined when there is none. */
export async function anchorOfSize(
  db: Database,
  ledger: string,
  size: bigint,
): Promise<RowOf<"anchor"> | undefined> {
  const { anchor } = schema;
  const [row] = await db
    .select()
    .from(anchor)
    .where(and(eq(anchor.ledger, ledger), eq(anchor.newSize, size)))
    .orderBy(desc(anchor.seq))
    .limit(1);
  return row;
}

/** Anchored heads, the latest first: of one ledger, or of all, followed or not. */
export function anchorList(ledger?: string | null): RowList<RowOf<"anchor">> {
  const { anchor } = schema;
  const [along] = wantedColumns([anchor.ledger, ledger]);
  return {
    table: anchor,
    of: alongColumn("anchors", along, null),
    order: along === undefined ? [anchor.block, anchor.log, anchor.id] : [anchor.seq],
    direction: "desc",
  };
}

/** The stored pages of a ledger's Merkle tree at these positions, in any order. */
export async function treePagesAt(
  db: Database,
  ledger: string,
  places: readonly Omit<TreePage, "hashes">[],
): Promise<TreePage[]> {
  const placeOf = new Map(places.map((place) => [pageKey(ledger, place), place]));
  const rows = await rowsById(db, "treePage", [...placeOf.keys()]);
  return rows.flatMap(({ id, hashes }) => {
    const place = placeOf.get(id);
    return place === undefined ? [] : [{ ...place, hashes }];
  });
}
