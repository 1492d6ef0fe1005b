import { mkdir } from "node:fs/promises";
import path from "node:path";
import pg from "pg";
import type { Progress } from "../../../scripts/cli/progress.ts";
import { startPostgres } from "../../../scripts/postgres/startPostgres.ts";
import { openSupervisor } from "../../../scripts/processes/openSupervisor.ts";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";
import { type BenchChain, CHAIN_ID, startBenchChain } from "./benchChain.ts";
import { buildChain } from "./buildChain.ts";
import { type BackfillFigures, startMeasured } from "./measureIndexer.ts";
import type { WorldSize } from "./world.ts";

/** A reader of a chain: a Ponder app that only stores transfers, or our node with one of its two forms of the log. */
export type Reader = "bare" | "all" | "relevant";

/** `databaseBytes` is the size of the reader's whole database, with Ponder's own tables. */
export type ReadFigures = BackfillFigures & { databaseBytes: number; largestTables: string };

export type Running = Awaited<ReturnType<typeof startMeasured>>;

/** A chain of the bench, and functions that let a reader read it. */
export type BenchedChain = {
  chain: BenchChain;
  transfers: number;
  records: number;
  /** Reads the chain from its first block with an empty database. */
  read: (reader: Reader) => Promise<ReadFigures>;
  /** Reads the chain in the same way. Then the node continues to follow the chain, and `use` gets the node. */
  follow: <T>(reader: Reader, use: (node: Running, databaseUrl: string) => Promise<T>) => Promise<T>;
};

/** The schema of every reader. */
export const SCHEMA = "bench";
/** Blocks that a reader of all transfers asks for at once. */
const LOGS_BLOCK_RANGE = "50";
/** The number of tables that are shown: the largest ones, and those with the most look-ups. */
const LARGEST = 6;

/** Builds a chain of this size, and calls `use` with it. Nothing of it is left afterwards, except signed records. */
export async function withChain<T>(
  size: WorldSize,
  progress: Progress,
  use: (benched: BenchedChain) => Promise<T>,
): Promise<T> {
  const folder = path.join(repositoryRoot, ".tallystick", "bench");
  await mkdir(folder, { recursive: true });
  const supervisor = await openSupervisor();
  try {
    const chain = await progress.step("anvil", async () => ({
      value: await startBenchChain(supervisor, folder, "anvil"),
    }));
    const { ledgerFolder, transfers, records } = await progress.step("chain", async () => {
      const value = await buildChain(chain, size, folder);
      return { value, detail: `${value.transfers} transfers, ${value.records} records` };
    });
    const postgres = await startPostgres({ supervisor });
    const environment: Record<string, string> = {
      RPC_URL: chain.rpcUrl,
      CHAIN_ID: String(CHAIN_ID),
      TOKEN_ADDRESS: chain.token,
      POLLING_INTERVAL_MS: "100",
      DATABASE_SCHEMA: SCHEMA,
    };
    const ofNode = {
      ANCHORED_LEDGER: chain.anchoredLedger,
      LEDGERS: `${chain.ledger}=${ledgerFolder}`,
      TICK_BLOCKS: "150",
      // The contract logs transfers, and keeps no balances.
      BALANCE_CHECK_TICKS: "0",
    };
    const more: Record<Reader, Record<string, string>> = {
      bare: { LOGS_BLOCK_RANGE },
      all: { ...ofNode, TRANSFERS: "all", LOGS_BLOCK_RANGE },
      relevant: { ...ofNode, TRANSFERS: "relevant" },
    };
    const begin = async (reader: Reader) => {
      const databaseUrl = await postgres.createDatabase(reader);
      const root = reader === "bare" ? "tools/bench/index/bare" : "indexer";
      const env = { ...environment, ...more[reader], DATABASE_URL: databaseUrl };
      const node = await startMeasured(supervisor, { name: reader, root, folder, env });
      const figures = { ...(await node.backfilled()), ...(await diskOf(databaseUrl)) };
      return { node, databaseUrl, figures };
    };
    return await use({
      chain,
      transfers,
      records,
      read: (reader) =>
        progress.step(reader, async () => {
          const { node, figures } = await begin(reader);
          await node.stop();
          return { value: figures, detail: describe(figures) };
        }),
      follow: async (reader, use) => {
        const { node, databaseUrl } = await begin(reader);
        try {
          return await use(node, databaseUrl);
        } finally {
          await node.stop();
        }
      },
    });
  } finally {
    await supervisor.close();
  }
}

async function diskOf(databaseUrl: string): Promise<Pick<ReadFigures, "databaseBytes" | "largestTables">> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const whole = await client.query("SELECT pg_database_size(current_database()) AS bytes");
    const largest = await client.query<{ name: string; bytes: string }>(
      `SELECT nspname || '.' || relname AS name, pg_total_relation_size(c.oid) AS bytes FROM pg_class c
       JOIN pg_namespace n ON n.oid = relnamespace WHERE relkind = 'r' ORDER BY bytes DESC LIMIT ${LARGEST}`,
    );
    return {
      databaseBytes: Number(whole.rows[0].bytes),
      largestTables: largest.rows.map(({ name, bytes }) => `${name} ${megabytes(Number(bytes))}`).join(", "),
    };
  } finally {
    await client.end();
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

function describe({ cpuSeconds, peakMegabytes, databaseBytes, largestTables, lookUps }: ReadFigures): string {
  const cpu = cpuSeconds === null ? "" : `${cpuSeconds.toFixed(1)} s of processor time, `;
  const disk = `${megabytes(databaseBytes)} on disk (${largestTables})`;
  const tables = lookUps.tables.slice(0, LARGEST).map(([name, count]) => `${name} ${count}`);
  const waited = `${lookUps.count} look-ups in ${lookUps.seconds.toFixed(1)} s (${tables.join(", ")})`;
  return `${cpu}${peakMegabytes.toFixed(0)} MB of memory at most, ${disk}, ${waited}`;
}
