import pg from "pg";

/** The content of Ponder's `/status`, by chain. */
export type ChainStatus = { [chain: string]: { id: number; block: { number: number; timestamp: number } } };

/** Watches whether the database answers, so that no request has to wait to find out. */
export type DatabaseWatch = {
  readonly isAway: boolean;
  /** Whether the whole history was read, by the last answer; false if unknown. */
  readonly isReady: boolean;
  /** The last block of every chain, by the last answer. */
  readonly status: ChainStatus;
  /**
   * Waits for the work. Returns true if the database went away before the work was done, or answered nothing for {@link
   * REQUEST_MS}.
   */
  goesAwayDuring: (work: Promise<unknown>) => Promise<boolean>;
  close: () => Promise<void>;
};

/** The time between two checks. */
const EVERY_MS = 500;

/**
 * A request is refused when it has waited this long, and no check was answered meanwhile. A request must be
 * refused within two seconds.
 */
const REQUEST_MS = 1_900;

/** A timer that is later than this shows that this process stood still. */
const LATE_MS = 50;

/**
 * A check without an answer for this long shows that the database is away. On a busy machine a working database may
 * stand still for a second or two. Requests that come in that time are still served.
 */
const PATIENCE_MS = 3_000;

/** The server itself ends a check after this time. So a server that works answers before this program stops waiting. */
const STATEMENT_MS = 600;

/**
 * Watches a database through its own connection. A stopped server refuses connections. A frozen server
 * accepts them and never answers. Both count as away, until one check succeeds.
 *
 * @param parameters.databaseSchema where Ponder's tables (or the views on them) are
 */
export function watchDatabase(parameters: { databaseUrl: string; databaseSchema: string }): DatabaseWatch {
  const { databaseUrl, databaseSchema } = parameters;
  const schema = pg.escapeIdentifier(databaseSchema);
  let client: pg.Client | undefined;
  let isAway = false;
  let isReady = false;
  let isClosed = false;
  let status: ChainStatus = {};
  let timer: NodeJS.Timeout | undefined;
  /** The requests that wait. Each removes itself when it ends, because this process serves requests for months. */
  const waiting = new Set<() => void>();
  let answeredAt = Number.NEGATIVE_INFINITY;

  async function connected(): Promise<pg.Client> {
    if (client !== undefined) return client;
    const fresh = new pg.Client({
      connectionString: databaseUrl,
      application_name: `${databaseSchema}_watch`,
      connectionTimeoutMillis: PATIENCE_MS,
      query_timeout: PATIENCE_MS,
      statement_timeout: STATEMENT_MS,
    });
    // The next check notices a connection that breaks while it is idle.
    fresh.on("error", () => forget(fresh));
    await fresh.connect();
    client = fresh;
    return fresh;
  }

  function forget(broken: pg.Client): void {
    if (client === broken) client = undefined;
    broken.end().catch(() => {});
  }

  async function look(): Promise<void> {
    const asked = await connected();
    try {
      const meta = await asked.query(
        `SELECT value->>'is_ready' AS ready FROM ${schema}._ponder_meta LIMIT 1`,
      );
      const chains = await asked.query(
        `SELECT chain_name, chain_id, latest_checkpoint FROM ${schema}._ponder_checkpoint ORDER BY chain_id`,
      );
      isReady = meta.rows[0]?.ready === "1";
      status = Object.fromEntries(chains.rows.map((row) => [row.chain_name, chainStatus(row)]));
    } catch (error) {
      // The tables do not exist yet, or an upgrade locks them for a moment. But the database answers.
      if (error instanceof pg.DatabaseError && !isDatabaseAway(error)) return;
      forget(asked);
      throw error;
    }
  }

  async function turn(): Promise<void> {
    try {
      await look();
      answeredAt = performance.now();
      isAway = false;
    } catch {
      isAway = true;
      for (const goesAway of waiting) goesAway();
    }
    if (isClosed) return;
    timer = setTimeout(turn, EVERY_MS);
    timer.unref();
  }
  void turn();

  return {
    get isAway() {
      return isAway;
    },
    get isReady() {
      return isReady;
    },
    get status() {
      return status;
    },
    goesAwayDuring: async (work) => {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const goesAway = () => resolve(true);
      waiting.add(goesAway);
      const stop = onSilence(() => answeredAt, goesAway);
      if (isAway) goesAway();
      try {
        return await Promise.race([promise, work.then(() => false)]);
      } finally {
        stop();
        waiting.delete(goesAway);
      }
    },
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      await client?.end().catch(() => {});
    },
  };
}

/**
 * Calls `begins` once the database has answered no check for {@link REQUEST_MS} since this call.
 *
 * @param answeredAt when it answered last
 * @returns ends the waiting
 */
function onSilence(answeredAt: () => number, begins: () => void): () => void {
  let since = performance.now();
  let timer: NodeJS.Timeout;
  const sleep = () => {
    timer = setTimeout(wake, since + REQUEST_MS - performance.now());
  };
  const wake = () => {
    const late = performance.now() - since - REQUEST_MS;
    // This process itself stood still. It runs its timers before it reads the answers that came in that time.
    if (late > LATE_MS) since += late;
    else if (answeredAt() > since) since = answeredAt();
    else {
      begins();
      return;
    }
    sleep();
  };
  sleep();
  return () => clearTimeout(timer);
}

/** Ponder's checkpoint: ten digits of time, sixteen of chain id, sixteen of block number, and more. */
function chainStatus({ chain_id, latest_checkpoint }: { chain_id: string; latest_checkpoint: string }) {
  return {
    id: Number(chain_id),
    block: {
      number: Number(latest_checkpoint.slice(26, 42)),
      timestamp: Number(latest_checkpoint.slice(0, 10)),
    },
  };
}

/** Whether an error means that the database is away, and not that the statement is wrong. */
export function isDatabaseAway(error: unknown): boolean {
  for (let it = error, depth = 0; it instanceof Error && depth < 5; it = it.cause, depth++) {
    const code = String((it as { code?: unknown }).code ?? "");
    if (/^(?:ECONNREFUSED|ECONNRESET|ETIMEDOUT|EPIPE|EHOSTUNREACH|ENOTFOUND|EAI_AGAIN)$/.test(code))
      return true;
    // The server shuts down, crashed, starts, has no connection left, or the connection failed (SQLSTATE 57Pxx, 53300, 08xxx).
    if (/^(?:57P0[1-3]|53300|08\d{3})$/.test(code)) return true;
    if (
      /^(?:Connection terminated|Query read timeout|Client has encountered a connection error)/.test(
        it.message,
      )
    )
      return true;
  }
  return false;
}
