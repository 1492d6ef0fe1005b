import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type PostgresServer, startPostgres } from "../../../scripts/postgres/startPostgres.ts";
import { openSupervisor, type Supervisor } from "../../../scripts/processes/openSupervisor.ts";
import { type IndexerProcess, startIndexer } from "./indexerProcess.ts";
import { type LocalChain, startLocalChain } from "./localChain.ts";

export type LonelyIndexer = {
  supervisor: Supervisor;
  folder: string;
  postgres: PostgresServer;
  chain: LocalChain;
  indexer: IndexerProcess;
  /** The indexer's settings, for an additional replica. */
  environment: Record<string, string>;
  /** Starts Postgres again, on the same data and port, after it was stopped. */
  restartPostgres: () => Promise<void>;
  close: () => Promise<void>;
};

/**
 * Starts a real indexer over a real chain and a real Postgres. It follows no ledger. It is for tests of the API under
 * bad conditions.
 */
export async function startLonelyIndexer(more: Record<string, string> = {}): Promise<LonelyIndexer> {
  const folder = await mkdtemp(path.join(tmpdir(), "tallystick-lonely-"));
  // Postgres runs as a user of its own where this process is root.
  await chmod(folder, 0o755);
  const supervisor = await openSupervisor();
  const close = async () => {
    await supervisor.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const kept = { supervisor, folder: path.join(folder, "postgres") };
    const [postgres, chain] = await Promise.all([startPostgres(kept), startLocalChain(supervisor, folder)]);
    const environment = {
      DATABASE_URL: await postgres.createDatabase("lonely"),
      RPC_URL: chain.rpcUrl,
      CHAIN_ID: "31337",
      TOKEN_ADDRESS: chain.token,
      TICK_BLOCKS: "1",
      ...more,
    };
    const indexer = await startIndexer(supervisor, folder, environment);
    await indexer.untilTick(await chain.client.getBlockNumber());
    const restartPostgres = async () => void (await startPostgres({ ...kept, port: postgres.port }));
    return { supervisor, folder, postgres, chain, indexer, environment, restartPostgres, close };
  } catch (error) {
    await close();
    throw error;
  }
}
