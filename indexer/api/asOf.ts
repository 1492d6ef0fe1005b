import type { MiddlewareHandler } from "hono";
import type { Row } from "tallystick-derive/tables";
import type { Database } from "./database.ts";
import { stateRow } from "./rows/state.ts";

/** The header that names the tick of an answer. */
export const AS_OF_HEADER = "tallystick-as-of";

/**
 * The last tick, and the digest of everything derived up to it. Windows and expiries are computed as of this
 * tick.
 */
export type AsOf = { block: number; time: number; digest: string };

/** Null before the first tick. */
export function asOf(state: Pick<Row<"state">, "block" | "time" | "digest"> | null | undefined): AsOf | null {
  if (!state?.digest) return null;
  const { block, time, digest } = state;
  return { block, time, digest };
}

/**
 * Adds the tick to every successful answer: `block=70, time=1767225900, digest="0x…"`, a dictionary of RFC
 * 9651. The tick is read before the answer, so the answer may be newer but never older.
 */
export function sayAsOf(db: Database): MiddlewareHandler {
  return async (context, next) => {
    const row = await stateRow(db);
    await next();
    const at = asOf(row);
    if (at === null || context.res.status !== 200) return;
    const { block, time, digest } = at;
    context.res.headers.set(AS_OF_HEADER, `block=${block}, time=${time}, digest="${digest}"`);
  };
}
