import * as schema from "../../ponder.schema.ts";
import type { Database } from "../database.ts";

/** The first block whose transfers of the token are read; null before the first event. */
export async function firstTokenBlock(db: Database): Promise<number | null> {
  const [row] = await db.select().from(schema.token).limit(1);
  return row?.firstBlock ?? null;
}
