import pg from "pg";
import type { PaymentStore } from "./api/insights/paymentStore.ts";
import { CREATE_KEPT_LINES, KeptLines } from "./keptLines.ts";
import { CREATE_KEPT_PAYMENTS, keptPayments } from "./keptPayments.ts";
import { logWarning } from "./ponderProcess.ts";
import { SCHEMA_BEHIND_VIEWS } from "./schemaBehindViews.ts";
import { tryAgain } from "./tryAgain.ts";

/** A segment that the indexer waits for. Everything after it on the chain waits too. */
export type BlockedSegment = {
  ledger: string;
  oldSize: bigint;
  newSize: bigint;
  block: number;
  /** Unix seconds of the first attempt that failed. */
  since: number;
  attempts: number;
  reason: string;
};

/**
 * Transfers of the token that the indexer waits for, or that do not add up. Everything after that block waits
 * too.
 */
export type BlockedTransfers = {
  block: number;
  /** Unix seconds of the first attempt that failed. */
  since: number;
  attempts: number;
  reason: string;
  /** The wallet whose transfers do not add up to its balance; null while the indexer waits for a source. */
  wallet: string | null;
};

/** The operational state of an indexer, which is not a part of what it derives. */
export type Operations = {
  /** Reports that the indexer waits for a segment, and why. Never throws. */
  reportBlocked: (segment: BlockedSegment) => Promise<void>;
  /** Ends this report. Never throws. */
  reportUnblocked: () => Promise<void>;
  /**
   * The segment that the indexer waits for, which every replica on the same database sees; null if it does
   * not wait.
   */
  readBlocked: () => Promise<BlockedSegment | null>;
  /** Reports that the indexer waits for transfers, if only relevant transfers are read. Never throws. */
  reportBlockedTransfers: (blocked: BlockedTransfers) => Promise<void>;
  /** Ends this report. Never throws. */
  reportUnblockedTransfers: () => Promise<void>;
  /** The transfers that the indexer waits for, which every replica on the same database sees. */
  readBlockedTransfers: () => Promise<BlockedTransfers | null>;
  /**
   * Takes the lock of the schema to which this process writes. Ponder takes it itself, with one exception. If an
   * indexer ended before its first checkpoint, the next indexer finds tables without a checkpoint. It continues with
   * them, and does not take the lock. Then a second indexer could write to the same tables.
   *
   * This must not be a statement of a handler. After a handler's own statement Ponder drops the rows that it keeps in memory,
   * and asks the database for each row until it has read the whole history.
   *
   * @param signal aborts when the process begins to end. Then the lock stays open
   */
  holdSchema: (signal: AbortSignal) => Promise<void>;
  /** The lines of followed ledgers, which all indexers in the database share. */
  lines: KeptLines;
  /** The payments for insights, which all processes on the database share. */
  payments: PaymentStore;
  close: () => Promise<void>;
};

/** The two states of the lock of a schema, as SQL. */
const HELD = "jsonb_build_object('is_locked', 1, 'heartbeat_at', $1::int8)";
const OPEN = "jsonb_build_object('is_locked', 0)";

const TABLE = "ops.blocked_segment";
const TRANSFERS = "ops.blocked_transfers";

/**
 * Opens the operational state: schema `ops`, with one row for each indexer schema. It has its own small pool,
 * because Ponder's connection is inside a transaction while a handler waits, and Ponder's tables are rolled
 * back and replaced.
 *
 * @param indexerSchema Ponder's schema, so that several indexers can use one database
 */
export function openOperations(databaseUrl: string, indexerSchema: string): Operations {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    application_name: `tallystick ops ${indexerSchema}`,
    max: 4,
    connectionTimeoutMillis: 5_000,
    statement_timeout: 5_000,
    // A frozen server does not end the statement, so the client does.
    query_timeout: 6_000,
    allowExitOnIdle: true,
  });
  // A broken idle connection must not end the process. The next query opens a new one.
  pool.on("error", (error) =>
    logWarning({ msg: "Lost an idle connection to the ops schema", cause: error.message }),
  );

  let created: Promise<unknown> | undefined;
  const table = () => {
    created ??= pool.query(CREATE).catch((error) => {
      created = undefined;
      throw error;
    });
    return created;
  };

  const write = async (what: string, sql: string, values: unknown[]) => {
    try {
      await table();
      await pool.query(sql, values);
    } catch (error) {
      logWarning({ msg: `Could not ${what} in the ops schema`, cause: String(error) });
    }
  };

  return {
    reportBlocked: ({ ledger, oldSize, newSize, block, since, attempts, reason }) =>
      write("report a blocked segment", UPSERT, [
        indexerSchema,
        ledger,
        String(oldSize),
        String(newSize),
        block,
        since,
        attempts,
        reason,
      ]),
    reportUnblocked: () =>
      write("clear a blocked segment", `DELETE FROM ${TABLE} WHERE indexer_schema = $1`, [indexerSchema]),
    readBlocked: async () => {
      try {
        const { rows } = await pool.query(READ, [indexerSchema]);
        return rows.length === 0 ? null : blockedSegment(rows[0]);
      } catch (error) {
        if (isUndefinedTable(error)) return null;
        throw error;
      }
    },
    reportBlockedTransfers: ({ block, since, attempts, reason, wallet }) =>
      write("report blocked transfers", UPSERT_TRANSFERS, [
        indexerSchema,
        block,
        since,
        attempts,
        reason,
        wallet,
      ]),
    reportUnblockedTransfers: () =>
      write("clear blocked transfers", `DELETE FROM ${TRANSFERS} WHERE indexer_schema = $1`, [indexerSchema]),
    readBlockedTransfers: async () => {
      try {
        const { rows } = await pool.query(READ_TRANSFERS, [indexerSchema]);
        return rows.length === 0 ? null : blockedTransfers(rows[0]);
      } catch (error) {
        if (isUndefinedTable(error)) return null;
        throw error;
      }
    },
    holdSchema: async (signal) => {
      const meta = `${pg.escapeIdentifier(indexerSchema)}._ponder_meta`;
      const set = (lock: string) =>
        pool.query(`UPDATE ${meta} SET value = value || ${lock}`, lock === HELD ? [Date.now()] : []);
      const take = async () => {
        await set(HELD);
        // At its end, Ponder opens the lock once. It may have done so before this statement ran.
        if (signal.aborted) await set(OPEN);
      };
      await tryAgain("take the lock of the schema", signal, take).catch((error) => {
        if (!signal.aborted) throw error;
      });
    },
    lines: new KeptLines(pool, table),
    payments: keptPayments(pool, table),
    close: () => pool.end(),
  };
}

/** The statements are one transaction. Without the lock, two processes that make the same table at once would fail. */
const CREATE = `
  SELECT pg_advisory_xact_lock(hashtextextended('${TABLE}', 0));
  CREATE SCHEMA IF NOT EXISTS ops;
  CREATE TABLE IF NOT EXISTS ${TABLE} (
    indexer_schema text PRIMARY KEY,
    ledger text NOT NULL,
    old_size numeric(20) NOT NULL,
    new_size numeric(20) NOT NULL,
    block bigint NOT NULL,
    since bigint NOT NULL,
    attempts integer NOT NULL,
    reason text NOT NULL
  );
  CREATE TABLE IF NOT EXISTS ${TRANSFERS} (
    indexer_schema text PRIMARY KEY,
    block bigint NOT NULL,
    since bigint NOT NULL,
    attempts integer NOT NULL,
    reason text NOT NULL,
    wallet text
  );
  ${CREATE_KEPT_LINES};
  ${CREATE_KEPT_PAYMENTS}`;

const UPSERT = `
  INSERT INTO ${TABLE} (indexer_schema, ledger, old_size, new_size, block, since, attempts, reason)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
  ON CONFLICT (indexer_schema) DO UPDATE SET ledger = $2, old_size = $3, new_size = $4, block = $5, since = $6,
    attempts = $7, reason = $8`;

/** A replica may read through views on the schema of an indexer. */
const READ = `SELECT * FROM ${TABLE} WHERE indexer_schema = coalesce(${SCHEMA_BEHIND_VIEWS}, $1)`;

const UPSERT_TRANSFERS = `
  INSERT INTO ${TRANSFERS} (indexer_schema, block, since, attempts, reason, wallet)
  VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (indexer_schema) DO UPDATE SET block = $2, since = $3, attempts = $4, reason = $5, wallet = $6`;

const READ_TRANSFERS = `SELECT * FROM ${TRANSFERS} WHERE indexer_schema = coalesce(${SCHEMA_BEHIND_VIEWS}, $1)`;

function blockedTransfers(row: Record<string, string | number | null>): BlockedTransfers {
  return {
    block: Number(row.block),
    since: Number(row.since),
    attempts: Number(row.attempts),
    reason: String(row.reason),
    wallet: row.wallet === null ? null : String(row.wallet),
  };
}

function blockedSegment(row: Record<string, string | number>): BlockedSegment {
  return {
    ledger: String(row.ledger),
    oldSize: BigInt(row.old_size as string),
    newSize: BigInt(row.new_size as string),
    block: Number(row.block),
    since: Number(row.since),
    attempts: Number(row.attempts),
    reason: String(row.reason),
  };
}

/** Nothing was ever reported, so the schema and the table do not exist. */
function isUndefinedTable(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  return code === "42P01" || code === "3F000";
}
