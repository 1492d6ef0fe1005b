import { InvalidInputError } from "tallystick-protocol/errors";
import { type PoolRow, type PoolSettings, poolTable } from "./poolTable.ts";

const BEGIN = "<!-- audit pool: tallystick audit-pool --update docs/audit-network.md -->\n";
const END = "<!-- end of the audit pool -->";

/** Replaces the table between the two marks in a document. */
export function withPoolTable(
  text: string,
  { garbage, seed }: PoolSettings,
  rows: readonly PoolRow[],
): string {
  const [before, rest] = text.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined)
    throw new InvalidInputError({
      issues: [{ field: "--update", message: `must be a document with ${BEGIN.trim()} and ${END.trim()}` }],
    });
  return `${before}${BEGIN}${poolTable(garbage, rows)}\n\nSeed ${seed}.\n${END}${after}`;
}
