import type { ReadonlyDrizzle } from "ponder";
import type * as schema from "../ponder.schema.ts";

/** The indexer's database. The API opens it read-only. */
export type Database = ReadonlyDrizzle<typeof schema>;
