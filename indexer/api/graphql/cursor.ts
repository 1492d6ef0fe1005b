import { queryError } from "./errors.ts";

/** The values a row is ordered by, as text. */
export type Key = string[];

/** How a value of the order is written in a cursor. */
export type KeyType = "bigint" | "numeric" | "text";

/** Fifteen digits are less than 2^53: no integer of ours is longer. */
const FORMS: Record<Exclude<KeyType, "text">, RegExp> = {
  bigint: /^-?[0-9]{1,15}$/,
  numeric: /^-?[0-9]{1,80}(\.[0-9]{1,20})?$/,
};

/** Longer than any id of ours. */
const MAX_LENGTH = 600;

/** @param key a {@link Key} as JSON */
export function writeCursor(key: string): string {
  return Buffer.from(key).toString("base64url");
}

/**
 * Reads what {@link writeCursor} wrote.
 *
 * @throws GraphQLError `INVALID_CURSOR` when it does not fit the order of the list
 */
export function readCursor(cursor: string, types: KeyType[]): Key {
  const key = cursor.length > 2 * MAX_LENGTH ? undefined : parse(cursor);
  const fits =
    Array.isArray(key) &&
    key.length === types.length &&
    types.every((type, index) => {
      const value: unknown = key[index];
      if (typeof value !== "string" || value.length > MAX_LENGTH) return false;
      return type === "text" ? !value.includes("\0") : FORMS[type].test(value);
    });
  if (!fits) throw queryError("INVALID_CURSOR", "This cursor is not one of this list's.");
  return key as Key;
}

function parse(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, "base64url").toString());
  } catch {
    return undefined;
  }
}
