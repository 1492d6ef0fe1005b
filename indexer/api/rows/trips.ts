import { tripsBy } from "tallystick-derive/clusters";
import { lastPages, tailItems } from "tallystick-derive/lists";
import type { Row } from "tallystick-derive/tables";
import type { Database } from "../database.ts";
import { rowsById } from "./rowsById.ts";

/**
 * The latest tripped signals of each funder, the latest first, in the order of the funders. It makes three look-ups
 * for any number of funders.
 *
 * @param most the most signals of one funder
 * @param takeRows called with the number of rows before they are read; may throw
 */
export async function latestTrips(
  db: Database,
  funders: readonly string[],
  { most, takeRows }: { most: number; takeRows: (count: number) => void },
): Promise<Row<"trip">[][]> {
  const lists = await rowsById(db, "list", funders.map(tripsBy));
  takeRows(lists.reduce((sum, { length }) => sum + Math.min(length, most), 0));
  const pages = await rowsById(
    db,
    "listPage",
    lists.flatMap((list) => lastPages(list, most)),
  );
  const itemsOn = new Map(pages.map(({ id, items }) => [id, items.split("\n")]));
  const latestOf = new Map(
    lists.map((list) => {
      const items = [...lastPages(list, most).flatMap((page) => itemsOn.get(page) ?? []), ...tailItems(list)];
      return [list.id, items.slice(-most).reverse()];
    }),
  );
  const rows = await rowsById(db, "trip", [...latestOf.values()].flat());
  const trips = new Map(rows.map((row) => [row.id, row]));
  return funders.map((it) => latestOf.get(tripsBy(it))?.flatMap((id) => trips.get(id) ?? []) ?? []);
}
