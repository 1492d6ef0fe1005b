import { InvalidInputError } from "tallystick-protocol/errors";
import { type Place, type PlaceKind, placeIn, writePlace } from "../cursor.ts";

/** A place as the cursor that follows it. */
export function writeCursor(place: Place): string {
  return writePlace(JSON.stringify(place));
}

/**
 * Reads a cursor again.
 *
 * @throws InvalidInputError `invalid_cursor`
 */
export function readCursor(cursor: string, kinds: PlaceKind[]): Place {
  const place = placeIn(cursor, kinds);
  if (place !== undefined) return place;
  throw new InvalidInputError({
    code: "invalid_cursor",
    issues: [{ field: "cursor", message: "is none of this list's; begin without one" }],
  });
}
