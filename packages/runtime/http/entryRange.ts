import { InvalidInputError } from "tallystick-protocol/errors";
import { positionOf } from "./positionOf.ts";

/**
 * Reads a range of entries from a query: the entries from position `from` to before position `to`. If they are absent,
 * `from` is 0 and `to` is the size.
 *
 * @param size the number of entries
 * @param what the size in words, for the error: "the size of this copy"
 * @throws InvalidInputError naming each of the two that is wrong
 */
export function entryRange(
  { from: fromText, to: toText }: { from: string | undefined; to: string | undefined },
  size: number,
  what: string,
): [from: number, to: number] {
  const from = positionOf(fromText, "from") ?? 0;
  const to = positionOf(toText, "to") ?? size;
  const issues = [];
  if (from > size) issues.push({ field: "from", message: `must be from 0 to ${size}, ${what}` });
  if (to > size || to < from)
    issues.push({ field: "to", message: `must be from ${Math.min(from, size)} to ${size}, ${what}` });
  if (issues.length > 0) throw new InvalidInputError({ issues, code: "not_in_ledger" });
  return [from, to];
}
