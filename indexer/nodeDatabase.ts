import { toSnakeCase } from "drizzle-orm/casing";
import pg from "pg";
import type { ColumnKind } from "tallystick-derive/columnKind";
import { type Row, type TableName, tables } from "tallystick-derive/tables";
import type { Address } from "tallystick-protocol/address";
import { TallystickError } from "tallystick-protocol/errors";
import { type LoggedLine, mergedLog } from "./src/mergedLog.ts";

/**
 * A node's database at one moment. Later writes of the node are invisible, so log and rows belong together.
 */
export type NodeSnapshot = {
  /** The chain that the node follows, and the token whose transfers it reads. */
  chain: () => Promise<{ chainId: number; token: Address }>;
  /**
   * The event log in order, each event as JSON text. Transfers that became payments are made from the rows of
   * the payments.
   */
  eventLog: () => AsyncGenerator<string>;
  /** The rows of a table of the derivation, in no particular order. */
  rows: <T extends TableName>(table: T) => AsyncGenerator<Row<T>>;
  close: () => Promise<void>;
};

/** The number of rows that are fetched at once. */
const BATCH = 5_000;

/**
 * Opens a read-only REPEATABLE READ transaction on an indexer's database.
 *
 * @param parameters.databaseSchema the schema Ponder was started with (DATABASE_SCHEMA)
 * @throws TallystickError `database_unreachable`, or `no_such_schema` when no indexer ever wrote there
 */
export async function openNodeSnapshot(parameters: {
  databaseUrl: string;
  databaseSchema: string;
}): Promise<NodeSnapshot> {
  const { databaseUrl, databaseSchema } = parameters;
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: "tallystick snapshot",
    connectionTimeoutMillis: 10_000,
  });
  // Without a listener a lost connection would end the process. The running query rejects anyway.
  client.on("error", () => {});
  try {
    await client.connect();
  } catch (cause) {
    throw unreachable(databaseUrl, cause);
  }
  try {
    await client.query("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY");
    // The snapshot is taken by the first query.
    await checkSchema(client, databaseSchema);
  } catch (error) {
    await client.end();
    throw error;
  }

  const nameOf = (table: string) => `${pg.escapeIdentifier(databaseSchema)}.${pg.escapeIdentifier(table)}`;
  let cursors = 0;
  async function* read(select: string): AsyncGenerator<unknown[]> {
    const cursor = `snapshot_${cursors++}`;
    await client.query(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${select}`);
    try {
      for (;;) {
        const { rows } = await client.query({ text: `FETCH ${BATCH} FROM ${cursor}`, rowMode: "array" });
        yield* rows;
        if (rows.length < BATCH) return;
      }
    } finally {
      await client.query(`CLOSE ${cursor}`).catch(() => {});
    }
  }

  async function* rows<T extends TableName>(table: T, order = ""): AsyncGenerator<Row<T>> {
    const columns = Object.entries(tables[table]) as [string, ColumnKind][];
    const names = columns.map(([column]) => pg.escapeIdentifier(toSnakeCase(column)));
    const select = `SELECT ${names.join(", ")} FROM ${nameOf(toSnakeCase(table))} ${order}`;
    for await (const values of read(select)) {
      yield Object.fromEntries(
        columns.map(([column, kind], index) => [column, fromPostgres(values[index], kind)]),
      ) as Row<T>;
    }
  }

  async function tokenOf(): Promise<Address> {
    const { rows } = await client.query(`SELECT id FROM ${nameOf("token")}`);
    return rows[0]?.id as Address;
  }

  /**
   * Whether rows of `payment` replace the lines of their transfers. In a relevant log every line is stored as it is.
   */
  async function hasPayments(): Promise<boolean> {
    const { rows } = await client.query(`SELECT form FROM ${nameOf("state")}`);
    return rows[0]?.form !== "relevant";
  }

  async function* loggedLines(): AsyncGenerator<LoggedLine> {
    const select = `SELECT position, json FROM ${nameOf("event_log")} ORDER BY position`;
    for await (const [position, json] of read(select)) yield { position, json } as LoggedLine;
  }

  return {
    chain: async () => {
      const select = `SELECT latest_checkpoint AS checkpoint FROM ${nameOf("_ponder_checkpoint")} LIMIT 1`;
      const { rows } = await client.query<{ checkpoint: string }>(select);
      // Ten digits of time, sixteen of chain id, and more.
      const chainId = Number(rows[0]?.checkpoint.slice(10, 26));
      const token = await tokenOf();
      if (token === undefined || !Number.isSafeInteger(chainId)) throw nothingYet(databaseSchema);
      return { chainId, token };
    },
    async *eventLog() {
      if (await hasPayments()) {
        yield* mergedLog(loggedLines(), rows("payment", "ORDER BY block, log"), await tokenOf());
        return;
      }
      for await (const { json } of loggedLines()) yield json;
    },
    rows,
    close: () => client.end(),
  };
}

/** node-postgres gives 8-byte integers and numerics as text. */
function fromPostgres(value: unknown, kind: ColumnKind): unknown {
  if (value === null) return null;
  if (kind.startsWith("number")) return Number(value);
  if (kind.startsWith("bigint")) return BigInt(value as string);
  return value;
}

async function checkSchema(client: pg.Client, schema: string): Promise<void> {
  const { rows } = await client.query(
    "SELECT table_schema AS schema FROM information_schema.tables WHERE table_name = 'event_log' ORDER BY 1",
  );
  const schemas: string[] = rows.map((row) => row.schema);
  if (schemas.includes(schema)) return;
  const others =
    schemas.length > 0 ? `There is one in: ${schemas.join(", ")}.` : "There is none in this database.";
  throw new TallystickError({
    code: "no_such_schema",
    message: `No indexer has written to the schema ${schema}. ${others}`,
    hint: "Set DATABASE_URL and DATABASE_SCHEMA to those of the running node.",
  });
}

function nothingYet(schema: string): TallystickError {
  return new TallystickError({
    code: "nothing_indexed",
    message: `The indexer of the schema ${schema} has not written anything yet.`,
    hint: "Wait until its first blocks are read; its log says how far it is.",
  });
}

function unreachable(databaseUrl: string, cause: unknown): TallystickError {
  const { host, pathname } = new URL(databaseUrl);
  return new TallystickError({
    code: "database_unreachable",
    message: `The database ${host}${pathname} does not answer: ${cause instanceof Error ? cause.message : String(cause)}`,
    hint: "Is the node running? DATABASE_URL names its database.",
    cause,
  });
}
