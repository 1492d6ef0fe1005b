import { type InputIssue, InvalidInputError } from "../errors.ts";

/**
 * The JSON of a value that a caller gave. `JSON.stringify` writes NaN and infinity as null, and a reader takes null for
 * an absent value. So a limit of NaN would allow everything.
 *
 * @param path names the value in the error
 * @throws InvalidInputError naming every number that JSON cannot write
 */
export function jsonText(value: unknown, path = ""): string {
  const text = JSON.stringify(value);
  // A text without null has no such number.
  const issues = text?.includes("null") ? notFinite(value, path) : [];
  if (issues.length > 0) throw new InvalidInputError({ issues });
  return text;
}

function notFinite(value: unknown, path: string): InputIssue[] {
  if (typeof value === "number" && !Number.isFinite(value))
    return [{ field: path, message: `must be a finite number, not ${value}` }];
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([key, it]) => notFinite(it, path === "" ? key : `${path}.${key}`));
}
