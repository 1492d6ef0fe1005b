import pg from "pg";

/** What Ponder's `/status` tells, by chain. */
export type ChainStatus = { [chain: string]: { id: number; block: { number: number; timestamp: number } } };

/** Whether the database answers, asked again and again, so that no request has to find out by waiting. */
export type DatabaseWatch = {
  readonly isAway: boolean;
  /** Whether the history was read through when it was last asked; false when nothing is known. */
  readonly isReady: boolean;
  /** The last block of every chain when it was last asked. */
  readonly status: ChainStatus;
  /** Waits for the work; true when the database went away before it was done. */
  goesAwayDuring: (work: Promise<unknown>) => Promise<boolean>;
  close: () => Promise<void>;
};

/** Between two looks, and how long an answer may take: together below the two seconds in which a request is refused. */
const EVERY_MS = 500;
const PATIENCE_MS = 1_000;

/**
 * Watches a database through one connection of its own. A server that is stopped refuses connections; one that is frozen takes
 * them and never answers: both are away, until one look succeeds.
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
  let away = Promise.withResolvers<true>();

  async function connected(): Promise<pg.Client> {
    if (client !== undefined) return client;
    const fresh = new pg.Client({
      connectionString: databaseUrl,
      application_name: `${databaseSchema}_watch`,
      connectionTimeoutMillis: PATIENCE_MS,
      query_timeout: PATIENCE_MS,
      statement_timeout: PATIENCE_MS,
    });
    // What breaks while nobody asks is noticed by the next look.
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
      // Tables that are not there yet: the database answers all the same.
      if (/^(?:42P01|3F000|42703)$/.test(String((error as { code?: unknown }).code))) return;
      forget(asked);
      throw error;
    }
  }

  async function turn(): Promise<void> {
    try {
      await look();
      if (isAway) away = Promise.withResolvers<true>();
      isAway = false;
    } catch {
      isAway = true;
      away.resolve(true);
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
    goesAwayDuring: (work) => Promise.race([away.promise, work.then(() => false)]),
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      await client?.end().catch(() => {});
    },
  };
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

/** Whether an error says that the database cannot be asked now, as opposed to that it was asked something wrong. */
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
