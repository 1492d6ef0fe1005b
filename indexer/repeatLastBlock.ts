import pg from "pg";

/** If all events of a block are applied, Ponder's checkpoint has only nines behind the block number. */
const WHOLE_BLOCK = "9".repeat(33);

/** The times for a connection and a statement. All of it must end within the ten seconds that Ponder gives to a file. */
const CONNECT_MS = 4_000;
const STATEMENT_MS = 4_000;

/**
 * Lets Ponder read the block of its checkpoint again, if nothing of that block is in the tables. At the end of the history
 * Ponder sometimes notes the last block in the transaction before the one with the events of that block. When the process is
 * killed in between, the next one would leave these events out. A block without such events may be read again at any time.
 *
 * Call it before Ponder reads the checkpoint. It may be called while another process indexes into the schema.
 *
 * @returns the block that is read again; null if there is none
 */
export async function repeatLastBlock(parameters: {
  databaseUrl: string;
  databaseSchema: string;
}): Promise<number | null> {
  const client = new pg.Client({
    connectionString: parameters.databaseUrl,
    application_name: `tallystick last block ${parameters.databaseSchema}`,
    connectionTimeoutMillis: CONNECT_MS,
    statement_timeout: STATEMENT_MS,
    query_timeout: STATEMENT_MS + 1_000,
  });
  // Without a listener a lost connection would end the process. The running query rejects anyway.
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query("BEGIN");
    const repeated = await repeat(client, pg.escapeIdentifier(parameters.databaseSchema));
    await client.query("COMMIT");
    return repeated;
  } catch (error) {
    if (isUndefined(error)) return null;
    throw error;
  } finally {
    await client.end().catch(() => {});
  }
}

async function repeat(client: pg.Client, schema: string): Promise<number | null> {
  // An indexer writes this row last in each transaction. So with the row's lock, its tables are as of the checkpoint.
  const { rows } = await client.query<{ checkpoint: string }>(
    `SELECT safe_checkpoint AS checkpoint FROM ${schema}._ponder_checkpoint FOR UPDATE`,
  );
  const checkpoint = rows[0]?.checkpoint ?? "";
  if (rows.length !== 1 || checkpoint.slice(42) !== WHOLE_BLOCK) return null;
  // Ten digits of time, sixteen of chain id, sixteen of block number, and more.
  const block = Number(checkpoint.slice(26, 42));
  const applied = await client.query<{ is: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM ${schema}.log_length WHERE block >= $1)
       OR EXISTS (SELECT 1 FROM ${schema}.anchor WHERE block = $1)
       OR EXISTS (SELECT 1 FROM ${schema}.opened_ledger WHERE block = $1) AS is`,
    [block],
  );
  if (applied.rows[0]?.is) return null;
  const before = checkpoint.slice(0, 42).padEnd(checkpoint.length, "0");
  await client.query(`UPDATE ${schema}._ponder_checkpoint SET safe_checkpoint = $1`, [before]);
  return block;
}

/** The schema, a table or a column does not exist: no indexer has written there, or one of another version. */
function isUndefined(error: unknown): boolean {
  return ["3F000", "42P01", "42703"].includes(String((error as { code?: unknown }).code));
}
