import { type Place, type PlaceKind, placeIn } from "../cursor.ts";
import { queryError } from "./errors.ts";

/**
 * Reads a cursor that a client gives back.
 *
 * @throws GraphQLError `INVALID_CURSOR` when it does not fit the order of the list
 */
export function readCursor(cursor: string, kinds: readonly PlaceKind[]): Place {
  const place = placeIn(cursor, kinds);
  if (place === undefined) throw queryError("INVALID_CURSOR", "This cursor belongs to another list.");
  return place;
}
