import { InvalidInputError } from "tallystick-protocol/errors";
import { type Place, type PlaceKind, placeIn, writePlace } from "../cursor.ts";
import type { Database } from "../database.ts";
import { placeKinds, type RowList, readPage } from "../rows/list.ts";

/** The requested part of a list: rows after a cursor. */
export type Page = { limit: number; cursor?: string | undefined };

/** The rows of a page, and the cursor of the next page; null at the end. */
export type Cut<Found> = { shown: Found[]; next_cursor: string | null };

/**
 * A page of a list of rows. `skipped`: the rows that it left out, for which the client pays.
 *
 * @throws InvalidInputError `invalid_cursor`
 */
export async function pageOf<Found>(
  db: Database,
  list: RowList<Found>,
  { limit, cursor }: Page,
): Promise<Cut<Found> & { skipped: number }> {
  // These cursors have whole numbers as JSON numbers, not as text.
  const kinds = placeKinds(list).map((kind) => (kind === "bigint" ? "number" : kind));
  const after = cursor === undefined ? null : readCursor(cursor, kinds);
  const part = { size: limit, backward: false, after };
  const { rows, end, more, skipped } = await readPage({ db, batches: new Map() }, list, part);
  const placeOf = (key: string): Place =>
    (JSON.parse(key) as string[]).map((value, n) => (kinds[n] === "number" ? Number(value) : value));
  return {
    shown: rows.map(({ row }) => row),
    next_cursor: more && end ? writeCursor(placeOf(end.key)) : null,
    skipped,
  };
}

/** A page with the first `limit` rows. If `rows` has one more row, there is a next page. */
export function cutPage<Found>(
  rows: readonly Found[],
  limit: number,
  placeOf: (row: Found) => Place,
): Cut<Found> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return { shown, next_cursor: rows.length > limit && last ? writeCursor(placeOf(last)) : null };
}

/** The cursor for the rows after a place. */
export function writeCursor(place: Place): string {
  return writePlace(JSON.stringify(place));
}

/**
 * Reads a cursor that a client gives back.
 *
 * @throws InvalidInputError `invalid_cursor`
 */
export function readCursor(cursor: string, kinds: PlaceKind[]): Place {
  const place = placeIn(cursor, kinds);
  if (place !== undefined) return place;
  throw new InvalidInputError({
    code: "invalid_cursor",
    issues: [{ field: "cursor", message: "is not a cursor of this list; begin without one" }],
  });
}
