/** The place where a page ended: the values of the columns that order the list, in their JSON form. */
export type Place = (string | number)[];

/** Our integers have at most fifteen digits, so they are below 2^53. */
const KINDS = {
  number: (value: unknown) => Number.isSafeInteger(value),
  text: (value: unknown) => isText(value) && !value.includes("\0"),
  /** A whole number as text. */
  digits: (value: unknown) => isText(value) && /^[0-9]{1,78}$/.test(value),
  bigint: (value: unknown) => isText(value) && /^-?[0-9]{1,15}$/.test(value),
  numeric: (value: unknown) => isText(value) && /^-?[0-9]{1,80}(\.[0-9]{1,20})?$/.test(value),
};

/** The type of a value in a place. */
export type PlaceKind = keyof typeof KINDS;

/** The longest text in a place. An id is in an index of Postgres, which takes at most 2,704 bytes. */
const MAX_LENGTH = 2_704;

/**
 * The longest cursor, in characters. JSON writes each quotation mark and backslash of an id as two characters. Base64
 * writes three bytes as four characters. All other values of a place have at most a few hundred bytes.
 */
export const MAX_CURSOR = 8_192;

/**
 * Encodes a place as a cursor. A client returns it unchanged and does not need to understand it.
 *
 * @param place as JSON
 */
export function writePlace(place: string): string {
  return Buffer.from(place).toString("base64url");
}

/** Decodes a cursor of {@link writePlace}; undefined if it does not fit the order of the list. */
export function placeIn(cursor: string, kinds: readonly PlaceKind[]): Place | undefined {
  const place = cursor.length > MAX_CURSOR ? undefined : parse(cursor);
  if (!Array.isArray(place) || place.length !== kinds.length) return undefined;
  return kinds.every((kind, at) => KINDS[kind](place[at])) ? place : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.length <= MAX_LENGTH;
}

function parse(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, "base64url").toString());
  } catch {
    return undefined;
  }
}
