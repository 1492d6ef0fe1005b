import pg from "pg";

/** The part of an indexer's state that an upgrade reads. */
export type IndexerState = {
  build?: string;
  block?: number;
  ready?: boolean;
  locked?: boolean;
  digests?: Record<number, string>;
};

/** Writes the part of an indexer's schema that an upgrade reads. */
export async function writeIndexer(client: pg.Client, schema: string, state: IndexerState): Promise<void> {
  await client.query(`CREATE SCHEMA ${schema};
      CREATE TABLE ${schema}._ponder_meta (key text PRIMARY KEY, value jsonb);
      CREATE TABLE ${schema}._ponder_checkpoint (chain_name text PRIMARY KEY, chain_id int8, latest_checkpoint text);
      CREATE TABLE ${schema}.state (id text PRIMARY KEY, block int8, digest text);
      CREATE TABLE ${schema}.digest (id text PRIMARY KEY, block int8, digest text);
      CREATE TABLE ${schema}._reorg__state (id text)`);
  await writeIndexerState(client, schema, state);
}

/**
 * Writes the present state. All statements are one query, which Postgres runs as one transaction. So two states that a
 * test writes without waiting cannot mix.
 */
export async function writeIndexerState(
  client: pg.Client,
  schema: string,
  state: IndexerState,
): Promise<void> {
  const {
    build = schema,
    block = 20,
    ready = true,
    locked = true,
    digests = { 10: "0xa", 20: "0xb" },
  } = state;
  const meta = {
    build_id: build,
    is_ready: Number(ready),
    is_locked: Number(locked),
    heartbeat_at: locked ? Date.now() : 0,
    table_names: ["state", "digest"],
  };
  const checkpoint = `${"1".repeat(10)}${"0".repeat(15)}1${String(block).padStart(16, "0")}${"9".repeat(33)}`;
  const last = Math.max(...Object.keys(digests).map(Number));
  const rows = Object.entries(digests).map(([at, digest]) => values(at.padStart(12, "0"), at, digest));
  await client.query(`
    INSERT INTO ${schema}._ponder_meta VALUES ${values("app", JSON.stringify(meta))}
      ON CONFLICT (key) DO UPDATE SET value = excluded.value;
    INSERT INTO ${schema}._ponder_checkpoint VALUES ${values("main", "1", checkpoint)}
      ON CONFLICT (chain_name) DO UPDATE SET latest_checkpoint = excluded.latest_checkpoint;
    DELETE FROM ${schema}.digest;
    DELETE FROM ${schema}.state;
    INSERT INTO ${schema}.digest VALUES ${rows.join(", ")};
    INSERT INTO ${schema}.state VALUES ${values("state", String(last), digests[last] as string)}`);
}

function values(...texts: string[]): string {
  return `(${texts.map((text) => pg.escapeLiteral(text)).join(", ")})`;
}
