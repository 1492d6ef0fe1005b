import { InvalidInputError } from "tallystick-protocol/errors";

/** Where a page ended: the values its list is ordered by. */
export type Place = (string | number)[];

/** A place as text that a client keeps and gives back; what is in it is our business. */
export function writeCursor(place: Place): string {
  return Buffer.from(JSON.stringify(place)).toString("base64url");
}

/**
 * Reads a cursor again.
 *
 * @param kinds what each of the values has to be; `digits` is a whole number as text
 * @throws InvalidInputError `invalid_cursor`
 */
export function readCursor(cursor: string, kinds: ("number" | "text" | "digits")[]): Place {
  const place = parse(cursor);
  if (Array.isArray(place) && place.length === kinds.length && place.every((it, n) => fits(it, kinds[n]))) {
    return place;
  }
  throw new InvalidInputError({
    code: "invalid_cursor",
    issues: [{ field: "cursor", message: "is none of this list's; begin without one" }],
  });
}

function fits(value: unknown, kind: string | undefined): boolean {
  if (kind === "number") return Number.isSafeInteger(value);
  if (typeof value !== "string" || value.includes("\0")) return false;
  return kind !== "digits" || /^[0-9]{1,78}$/.test(value);
}

function parse(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, "base64url").toString());
  } catch {
    return undefined;
  }
}
