import { drizzle } from "drizzle-orm/node-postgres";
import pg from "pg";
import { inItsTurn } from "tallystick-runtime/http/turns";
import type { Database } from "./api/database.ts";
import * as schema from "./ponder.schema.ts";
import { logWarning } from "./ponderProcess.ts";
import { preparingClient } from "./preparingClient.ts";

export type ReadDatabase = { db: Database; close: () => Promise<void> };

/**
 * The longest time of a statement, in milliseconds. Expensive requests are refused before, so a longer
 * statement hangs.
 */
export const STATEMENT_TIMEOUT_MS = 5_000;

/**
 * Every statement of the API reads along an index and stops early. Postgres plans with averages, so it would
 * often collect all rows and sort them. That is faster for most sellers, but for the largest seller it reads
 * a hundred thousand rows to return twenty. JIT compilation is off, because it takes longer than our
 * statements.
 */
export const PLANNER_SETTINGS =
  "SET enable_bitmapscan = off; SET enable_seqscan = off; SET max_parallel_workers_per_gather = 0; SET jit = off";

/**
 * Opens the database for the API: read-only, through its own pool. Ponder's pool lets a statement run for
 * half a minute and use 512 MB for each sort. A few such statements of strangers would use all memory.
 *
 * @param parameters.databaseSchema where Ponder's tables (or the views on them) are
 * @param parameters.connections the most connections of this process
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
    // A frozen server does not end the statement, so the client does.
    query_timeout: statementTimeoutMs + 1_000,
    lock_timeout: 1_000,
    allowExitOnIdle: true,
    // The pool waits for this before it hands out the connection.
    onConnect: async (client) => {
      const path = pg.escapeIdentifier(databaseSchema);
      await client.query(
        `SET search_path = ${path}; SET default_transaction_read_only = on; ${PLANNER_SETTINGS}`,
      );
    },
  });
  const query = pool.query.bind(pool) as (...given: unknown[]) => Promise<never>;
  pool.query = (...given: unknown[]) => inItsTurn(() => query(...given));
  // A broken idle connection must not end the process. The next query opens a new one.
  pool.on("error", lost);
  return {
    db: drizzle(pool, { schema, casing: "snake_case" }) as unknown as Database,
    close: () => pool.end(),
  };
}

function lost(error: Error): void {
  logWarning({ msg: "Lost a connection of the API to the database", cause: error.message });
}
