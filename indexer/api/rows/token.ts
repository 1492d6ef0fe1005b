import * as schema from "../../ponder.schema.ts";
import type { Database } from "../database.ts";

/** The block from which on the token's transfers are read; null before the first event. */
export async function firstTokenBlock(db: Database): Promise<number | null> {
  const [row] = await db.select().from(schema.token).limit(1);
  return row?.firstBlock ?? null;
}
