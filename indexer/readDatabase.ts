import { drizzle } from "drizzle-orm/node-postgres";
import pg from "pg";
import { inItsTurn } from "tallystick-runtime/http/turns";
import type { Database } from "./api/database.ts";
import * as schema from "./ponder.schema.ts";
import { logWarning } from "./ponderProcess.ts";
import { preparingClient } from "./preparingClient.ts";

export type ReadDatabase = { db: Database; close: () => Promise<void> };

/** No answer is worth more: what takes longer was refused before, or is stuck. Milliseconds. */
export const STATEMENT_TIMEOUT_MS = 5_000;

/**
 * Every statement of the API reads along an index and stops. The planner, which knows averages only, would rather collect and
 * sort: that is quicker for most sellers, and reads a hundred thousand rows for twenty of the largest one's. Compiling a
 * statement takes longer than any of ours.
 */
export const PLANNER_SETTINGS =
  "SET enable_bitmapscan = off; SET enable_seqscan = off; SET max_parallel_workers_per_gather = 0; SET jit = off";

/**
 * Opens the database for the API: read-only, through a pool of its own. Ponder's pool lets a statement run for half a minute
 * and take 512 MB for every sort; with strangers asking, a few of those would be all the memory there is.
 *
 * @param parameters.databaseSchema where Ponder's tables (or the views on them) are
 * @param parameters.connections at most; each process of the API has its own
 */
export function openReadDatabase(parameters: {
  databaseUrl: string;
  databaseSchema: string;
  connections?: number;
  statementTimeoutMs?: number;
}): ReadDatabase {
  const { databaseUrl, databaseSchema, connections = 10 } = parameters;
  const { statementTimeoutMs = STATEMENT_TIMEOUT_MS } = parameters;
  const pool = new pg.Pool({
    Client: preparingClient(),
    connectionString: databaseUrl,
    application_name: `${databaseSchema}_api`,
    max: connections,
    connectionTimeoutMillis: 5_000,
    statement_timeout: statementTimeoutMs,
    // A server that is frozen does not end the statement.
    query_timeout: statementTimeoutMs + 1_000,
    lock_timeout: 1_000,
    allowExitOnIdle: true,
    // Waited for before the connection is given to anybody.
    onConnect: async (client) => {
      const path = pg.escapeIdentifier(databaseSchema);
      await client.query(
        `SET search_path = ${path}; SET default_transaction_read_only = on; ${PLANNER_SETTINGS}`,
      );
    },
  });
  const query = pool.query.bind(pool) as (...given: unknown[]) => Promise<never>;
  pool.query = (...given: unknown[]) => inItsTurn(() => query(...given));
  // An idle connection that breaks must not end the process; the next query opens a new one.
  pool.on("error", lost);
  return {
    db: drizzle(pool, { schema, casing: "snake_case" }) as unknown as Database,
    close: () => pool.end(),
  };
}

function lost(error: Error): void {
  logWarning({ msg: "Lost a connection of the API to the database", cause: error.message });
}
