import pg from "pg";
import { TallystickError } from "tallystick-protocol/errors";

/** The database connection of an upgrade. Only one process at a time can upgrade the same views. */
export type UpgradeSession = {
  /** Runs one statement; connects again, and takes the lock again, when the connection was lost. */
  query: (sql: string, values?: unknown[]) => Promise<pg.QueryResult>;
  /**
   * Runs the work in a transaction, which waits at most a second for each lock. If the work throws, the
   * transaction is rolled back.
   */
  transaction: <T>(work: (query: UpgradeSession["query"]) => Promise<T>) => Promise<T>;
  close: () => Promise<void>;
};

const CONNECT_MS = 10_000;
const STATEMENT_MS = 15_000;
/**
 * The time limit of a statement that changes something. Dropping a schema removes the files of all its
 * tables.
 */
const CHANGE_MS = 120_000;
/** Extra time after which the client gives up a statement, because a frozen server does not end it. */
const MORE_MS = 5_000;
/** The longest wait for a lock. A statement that waits for a lock makes all later ones wait too. */
const LOCK_MS = 1_000;

/**
 * Opens the one connection of an upgrade. It holds an advisory lock, which Postgres releases when this
 * process ends in any way. So nobody else upgrades the same views meanwhile, and nobody has to clean up.
 *
 * @throws TallystickError `database_unreachable`; `upgrade_running` when another process has the lock
 */
export async function openUpgradeSession(parameters: {
  databaseUrl: string;
  views: string;
}): Promise<UpgradeSession> {
  const { databaseUrl, views } = parameters;
  let client: pg.Client | undefined;

  async function connected(): Promise<pg.Client> {
    if (client !== undefined) return client;
    const fresh = new pg.Client({
      connectionString: databaseUrl,
      application_name: `tallystick upgrade ${views}`,
      connectionTimeoutMillis: CONNECT_MS,
      statement_timeout: STATEMENT_MS,
      query_timeout: STATEMENT_MS + MORE_MS,
      lock_timeout: LOCK_MS,
    });
    const forget = () => {
      if (client === fresh) client = undefined;
    };
    // Without a listener a lost connection would end the process. The next statement opens a new connection.
    fresh.on("error", forget).on("end", forget);
    try {
      await fresh.connect();
      // A killed process holds the lock until its running statement has ended.
      await fresh.query("SELECT pg_advisory_lock(hashtextextended($1, 0))", [`tallystick upgrade ${views}`]);
    } catch (error) {
      await fresh.end().catch(() => {});
      if ((error as { code?: unknown }).code === "55P03") throw running(views);
      throw error;
    }
    client = fresh;
    return fresh;
  }

  try {
    await connected();
  } catch (cause) {
    if (cause instanceof TallystickError) throw cause;
    throw new TallystickError({
      code: "database_unreachable",
      message: `The database does not answer: ${(cause as Error).message || (cause as { code?: string }).code}`,
      hint: "Nothing was changed. DATABASE_URL names the node's Postgres.",
      cause,
    });
  }

  return {
    query: async (sql, values) => (await connected()).query(sql, values),
    transaction: async (work) => {
      const held = await connected();
      await held.query("BEGIN");
      try {
        await held.query(`SET LOCAL statement_timeout = ${CHANGE_MS}`);
        const value = await work((text, values) =>
          held.query({ text, values, query_timeout: CHANGE_MS + MORE_MS } as pg.QueryConfig),
        );
        await held.query("COMMIT");
        return value;
      } catch (error) {
        await held.query("ROLLBACK").catch(() => {});
        throw error;
      }
    },
    close: async () => {
      const held = client;
      client = undefined;
      await held?.end().catch(() => {});
    },
  };
}

function running(views: string): TallystickError {
  return new TallystickError({
    code: "upgrade_running",
    message: `Another upgrade of ${views} is under way.`,
    hint: "Nothing was changed. Wait until it has ended. A killed upgrade holds the lock until its last statement has ended.",
  });
}
