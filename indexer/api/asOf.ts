import type { MiddlewareHandler } from "hono";
import type { Row } from "tallystick-derive/tables";
import type { Database } from "./database.ts";
import { stateRow } from "./rows/state.ts";

/** The header that says what an answer is as of. */
export const AS_OF_HEADER = "tallystick-as-of";

/** The last tick, and the digest of all that was derived up to it: windows and expiries are as of here. */
export type AsOf = { block: number; time: number; digest: string };

/** Null before the first tick. */
export function asOf(state: Pick<Row<"state">, "block" | "time" | "digest"> | null | undefined): AsOf | null {
  if (!state?.digest) return null;
  const { block, time, digest } = state;
  return { block, time, digest };
}

/**
 * Says of every good answer what it is as of: `block=70, time=1767225900, digest="0x…"`, a dictionary of RFC 9651. It is read before
 * the answer is: an answer may be newer, never older.
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
