import { type PlaceKind, placeIn } from "../cursor.ts";
import { queryError } from "./errors.ts";

/** The values a row is ordered by, as text. */
export type Key = string[];

/** How a value of the order is written in a cursor. */
export type KeyType = Exclude<PlaceKind, "number" | "digits">;

/**
 * Reads a cursor again.
 *
 * @throws GraphQLError `INVALID_CURSOR` when it does not fit the order of the list
 */
export function readCursor(cursor: string, types: KeyType[]): Key {
  const key = placeIn(cursor, types);
  if (key === undefined) throw queryError("INVALID_CURSOR", "This cursor is not one of this list's.");
  return key as Key;
}
