import { randomUUID } from "node:crypto";
import pg from "pg";
import type { LedgerName } from "tallystick-protocol/records/ledgerName";
import type { Log } from "tallystick-runtime/stderrLog";
import { type Flush, isSeal, MAX_FLUSH_BYTES, sealFlush, sealHeld } from "./flush.ts";
import type { CommitOutcome, HeldLine, SharedStore } from "./sharedStore.ts";
import { foreignRow } from "./storeErrors.ts";

/** The schema of the store's tables. Many ledgers may share it. */
export const STORE_SCHEMA = "tallystick_ledger";

/** The number of rows that are read at once. */
const ROWS_TOGETHER = 8;

/** The number of ids that are read at once. */
const IDS_TOGETHER = 1_000;

/** How long connecting may take, in milliseconds. */
const CONNECT_MS = 3_000;

/** The longest time that a statement may take, in milliseconds. */
const LONGEST_MS = 5_000;

/** If a lease lasts longer, the database's clock was set back since. So the lease does not count. */
const LONGEST_LEASE = "interval '10 minutes'";

const TABLES = `
CREATE SCHEMA IF NOT EXISTS ${STORE_SCHEMA};
CREATE TABLE IF NOT EXISTS ${STORE_SCHEMA}.flush (
  ledger text NOT NULL,
  first_index bigint NOT NULL,
  next_index bigint NOT NULL,
  parent text NOT NULL,
  head text NOT NULL,
  lines text NOT NULL,
  seal text NOT NULL,
  PRIMARY KEY (ledger, first_index)
);
CREATE TABLE IF NOT EXISTS ${STORE_SCHEMA}.lease (
  ledger text PRIMARY KEY,
  holder text NOT NULL,
  until timestamptz NOT NULL
);
ALTER TABLE ${STORE_SCHEMA}.lease ADD COLUMN IF NOT EXISTS handed_over timestamptz;
CREATE TABLE IF NOT EXISTS ${STORE_SCHEMA}.standby (
  ledger text NOT NULL,
  holder text NOT NULL,
  is_able boolean NOT NULL,
  seen timestamptz NOT NULL,
  PRIMARY KEY (ledger, holder)
);
CREATE TABLE IF NOT EXISTS ${STORE_SCHEMA}.held (
  ledger text NOT NULL,
  id text NOT NULL,
  line text NOT NULL,
  seal text NOT NULL,
  PRIMARY KEY (ledger, id)
);`;

/** The position before the first entry: the row that begins a ledger has it. */
const BEGINNING = -1;

export type PostgresStoreParameters = {
  url: string;
  /** 32 bytes that the ledger's machines share. */
  key: Uint8Array;
  ledger: LedgerName;
  leaseMs: number;
  log: Log;
};

type Row = {
  first_index: string;
  next_index: string;
  parent: string;
  head: string;
  /** Null when it is longer than a flush can be. */
  lines: string | null;
  seal: string;
};

/**
 * A {@link SharedStore} in a Postgres. It connects when it is first asked, and again whenever it has lost the
 * connection.
 */
export function postgresStore({ url, key, ledger, leaseMs, log }: PostgresStoreParameters): SharedStore {
  const holder = randomUUID();
  const patience = Math.min(LONGEST_MS, Math.max(1_000, leaseMs / 2));
  const prepare = preparation(log);
  const pool = new pg.Pool({
    connectionString: url,
    application_name: "tallystick_ledger",
    max: 3,
    keepAlive: true,
    allowExitOnIdle: true,
    connectionTimeoutMillis: CONNECT_MS,
    // The client's deadline is for a frozen server. The server's own deadline ends a statement that waits for
    // a lock.
    query_timeout: patience + 500,
    statement_timeout: patience,
    onConnect: prepare,
  });
  // An idle connection has broken. The next statement opens another.
  pool.on("error", () => {});
  const ask = async <T extends pg.QueryResultRow>(name: string, text: string, values: unknown[]) =>
    pool.query<T>({ name, text, values });

  async function insert(flush: Flush, from: string): Promise<boolean> {
    const { first, next, parent, head, lines } = flush;
    const values = [ledger, first, next, parent, head, lines, sealFlush(key, ledger, flush)];
    const row = "$1::text, $2::bigint, $3::bigint, $4::text, $5::text, $6::text, $7::text";
    const text = `INSERT INTO ${STORE_SCHEMA}.flush SELECT ${row} ${from} ON CONFLICT (ledger, first_index) DO NOTHING`;
    return (await ask(first === BEGINNING ? "begin" : "commit", text, values)).rowCount === 1;
  }

  async function commit(flush: Flush): Promise<CommitOutcome> {
    if (await insert(flush, BEHIND_ITS_PREDECESSOR)) return "ours";
    // The position is taken, perhaps by this same flush, if the answer to it was lost.
    const { rows } = await ask<Row>(
      "at",
      `SELECT next_index, left(head, 65) AS head FROM ${STORE_SCHEMA}.flush WHERE ledger = $1 AND first_index = $2`,
      [ledger, flush.first],
    );
    const [there] = rows;
    if (there === undefined) return "no_predecessor";
    return Number(there.next_index) === flush.next && there.head === flush.head ? "ours" : "anothers";
  }

  return {
    commit,
    flushesFrom: async (position) => {
      const { rows } = await ask<Row>("from", FLUSHES_FROM, [ledger, position, ROWS_TOGETHER]);
      return rows.map((row) => flushOf(row, key, ledger));
    },
    isEmpty: async () => {
      const text = `SELECT 1 FROM ${STORE_SCHEMA}.flush WHERE ledger = $1 LIMIT 1`;
      return (await ask("any", text, [ledger])).rowCount === 0;
    },
    begin: async ({ size, head }) => {
      await insert({ first: BEGINNING, next: size, parent: "", head, lines: "" }, "");
    },
    lease: async () => (await ask("lease", LEASE, [ledger, holder, leaseMs])).rowCount === 1,
    standBy: async (isAble) => {
      await ask("stand by", STAND_BY, [ledger, holder, isAble]);
    },
    handOver: async () => (await ask("hand over", HAND_OVER, [ledger, holder, leaseMs])).rowCount === 1,
    release: async () => {
      const text = `UPDATE ${STORE_SCHEMA}.lease SET until = '-infinity' WHERE ledger = $1 AND holder = $2`;
      await ask("release", text, [ledger, holder]);
    },
    putHeld: async ({ id, line }) => {
      const values = [ledger, id, line, sealHeld(key, ledger, line), holder];
      return (await ask("hold", HOLD, values)).rowCount === 1;
    },
    heldIds: async (after) => {
      const text = `SELECT id FROM ${STORE_SCHEMA}.held WHERE ledger = $1 AND id > $2 ORDER BY id LIMIT ${IDS_TOGETHER}`;
      return (await ask<HeldLine>("ids", text, [ledger, after])).rows.map(({ id }) => id);
    },
    held: async (id) => {
      const text = `SELECT line, seal FROM ${STORE_SCHEMA}.held WHERE ledger = $1 AND id = $2`;
      const [row] = (await ask<{ line: string; seal: string }>("held", text, [ledger, id])).rows;
      if (row === undefined) return undefined;
      if (!isSeal(sealHeld(key, ledger, row.line), row.seal)) throw foreignRow(`The held proposal ${id}`);
      return { id, line: row.line };
    },
    close: () => pool.end(),
  };
}

/** A flush is stored only if the row before it ends at its position, with the hash that the flush names. */
const BEHIND_ITS_PREDECESSOR = `FROM (
  SELECT next_index, head FROM ${STORE_SCHEMA}.flush
  WHERE ledger = $1 AND first_index < $2 ORDER BY first_index DESC LIMIT 1
) AS before WHERE before.next_index = $2 AND before.head = $4`;

/** A row's texts are cut at the length of our longest. So somebody who has only the database cannot fill our memory. */
const FLUSHES_FROM = `SELECT first_index, next_index, left(parent, 65) AS parent, left(head, 65) AS head,
  CASE WHEN octet_length(lines) <= ${2 * MAX_FLUSH_BYTES} THEN lines END AS lines, left(seal, 65) AS seal FROM ${STORE_SCHEMA}.flush
WHERE ledger = $1 AND first_index >= (
  SELECT max(first_index) FROM ${STORE_SCHEMA}.flush WHERE ledger = $1 AND first_index <= $2
) ORDER BY first_index LIMIT $3`;

const LEASE = `INSERT INTO ${STORE_SCHEMA}.lease AS kept (ledger, holder, until)
VALUES ($1, $2, clock_timestamp() + $3 * interval '1 millisecond')
ON CONFLICT (ledger) DO UPDATE SET holder = excluded.holder, until = excluded.until
WHERE kept.holder = excluded.holder OR kept.until < clock_timestamp()
  OR kept.until > clock_timestamp() + ${LONGEST_LEASE}`;

/**
 * Stores a held proposal if this process has the lease. The lock on the lease lasts until the row is stored. So the next
 * process gets the lease before this statement, or after the row is there to be read. A row that was stored before stays
 * as it is, and is counted too.
 */
const HOLD = `WITH mine AS (
  SELECT 1 FROM ${STORE_SCHEMA}.lease WHERE ledger = $1 AND holder = $5 FOR SHARE
)
INSERT INTO ${STORE_SCHEMA}.held AS kept (ledger, id, line, seal)
SELECT $1::text, $2::text, $3::text, $4::text FROM mine
ON CONFLICT (ledger, id) DO UPDATE SET id = kept.id`;

/** Notes that a process stands by. Forgets the processes that were not seen for an hour. */
const STAND_BY = `WITH gone AS (
  DELETE FROM ${STORE_SCHEMA}.standby WHERE ledger = $1 AND holder <> $2 AND seen < clock_timestamp() - interval '1 hour'
)
INSERT INTO ${STORE_SCHEMA}.standby VALUES ($1, $2, $3, clock_timestamp())
ON CONFLICT (ledger, holder) DO UPDATE SET is_able = excluded.is_able, seen = excluded.seen`;

/**
 * Gives the lease to a process that stands by and can write. That process has the lease at once, as if it had taken it.
 * If it has ended meanwhile, the lease expires.
 */
const HAND_OVER = `UPDATE ${STORE_SCHEMA}.lease AS kept
SET holder = next.holder, until = clock_timestamp() + $3 * interval '1 millisecond', handed_over = clock_timestamp()
FROM (
  SELECT holder FROM ${STORE_SCHEMA}.standby
  WHERE ledger = $1 AND holder <> $2 AND is_able
    AND seen > clock_timestamp() - $3 * interval '1 millisecond' AND seen <= clock_timestamp()
  ORDER BY seen DESC LIMIT 1
) AS next
WHERE kept.ledger = $1 AND kept.holder = $2
  AND (kept.handed_over IS NULL OR kept.handed_over > clock_timestamp()
    OR kept.handed_over < clock_timestamp() - interval '10 minutes')`;

function flushOf(row: Row, key: Uint8Array, ledger: LedgerName): Flush {
  const { parent, head, lines } = row;
  const flush = { first: Number(row.first_index), next: Number(row.next_index), parent, head };
  if (lines !== null && isSeal(sealFlush(key, ledger, flush), row.seal)) return { ...flush, lines };
  throw foreignRow(`The row of entry ${flush.first}`);
}

/** Makes the tables with the first connection, and makes every connection's commits durable. */
function preparation(log: Log): (client: pg.ClientBase) => Promise<void> {
  let isReady = false;
  return async (client) => {
    const { rows } = await client.query<{ commits: string; syncs: string; there: boolean }>(
      "SELECT current_setting('synchronous_commit') AS commits, current_setting('fsync') AS syncs," +
        ` to_regclass('${STORE_SCHEMA}.standby') IS NOT NULL AS there`,
    );
    const [server] = rows;
    // The server's settings for its own replicas stay unchanged.
    if (server?.commits === "off" || server?.commits === "local")
      await client.query("SET synchronous_commit = on");
    if (isReady) return;
    if (server?.syncs === "off")
      log(
        "The shared store does not sync its disk (fsync = off): a loss of power may lose what was settled.",
      );
    // Two machines may start at the same time.
    if (!server?.there)
      await client.query(
        `BEGIN; SELECT pg_advisory_xact_lock(hashtext('${STORE_SCHEMA}')); ${TABLES} COMMIT`,
      );
    isReady = true;
  };
}
