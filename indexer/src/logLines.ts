import type { Context } from "ponder:registry";
import { logLength, logLine } from "../ponder.schema.ts";
import type { KeyedLine } from "./positionKey.ts";

/** The most lines between two stored numbers. To find any other line, at most this many lines are counted. */
export const LINES_APART = 256;

const LAST = "last";

/** Which lines of the log are stored with their numbers: every 256th from the first on, and the ticks. */
export function numberedLines(before: number, lines: readonly KeyedLine[]): { id: string; line: number }[] {
  return lines.flatMap(({ position, event }, index) => {
    const line = before + index + 1;
    const isKept = event.kind === "tick" || line % LINES_APART === 1;
    return isKept ? [{ id: position, line }] : [];
  });
}

/** Counts logged lines, and notes the block of the last one. The count is a row, so Ponder undoes it together with the lines. */
export async function countLines(db: Context["db"], lines: readonly KeyedLine[]): Promise<void> {
  const before = (await db.find(logLength, { id: LAST }))?.lines ?? 0;
  const numbered = numberedLines(before, lines);
  if (numbered.length > 0) await db.insert(logLine).values(numbered);
  const length = { lines: before + lines.length, block: lines.at(-1)?.event.block ?? 0 };
  if (before === 0) await db.insert(logLength).values({ id: LAST, ...length });
  else await db.update(logLength, { id: LAST }).set(length);
}
