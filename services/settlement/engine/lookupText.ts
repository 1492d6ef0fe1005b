/**
 * A value as text for a look-up. A list or an object is never valid there, so it becomes an empty text. `String`
 * would throw for an object whose `toString` is no function, and JSON of strangers may have such a key.
 */
export function lookupText(value: unknown): string {
  return typeof value === "object" && value !== null ? "" : String(value);
}
