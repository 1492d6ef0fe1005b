import type { Context } from "ponder:registry";
import type { DeriveEvent } from "tallystick-derive/events";
import { logLength, logLine } from "../ponder.schema.ts";
import { positionKey } from "./positionKey.ts";

/** Lines from one number that is kept to the next, at most: so many are counted to find any other. */
export const LINES_APART = 256;

const LAST = "last";

/** Which of some lines of the log are kept with their numbers: every 256th from the first on, and the ticks. */
export function numberedLines(
  before: number,
  events: readonly DeriveEvent[],
): { id: string; line: number }[] {
  return events.flatMap((event, index) => {
    const line = before + index + 1;
    const isKept = event.kind === "tick" || line % LINES_APART === 1;
    return isKept ? [{ id: positionKey(event), line }] : [];
  });
}

/** Counts events that were logged. The count is a row, so that Ponder takes it back with them. */
export async function countLines(db: Context["db"], events: readonly DeriveEvent[]): Promise<void> {
  const before = (await db.find(logLength, { id: LAST }))?.lines ?? 0;
  const numbered = numberedLines(before, events);
  if (numbered.length > 0) await db.insert(logLine).values(numbered);
  const lines = before + events.length;
  if (before === 0) await db.insert(logLength).values({ id: LAST, lines });
  else await db.update(logLength, { id: LAST }).set({ lines });
}
