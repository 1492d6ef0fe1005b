import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import type { Progress } from "../../../scripts/cli/progress.ts";
import { startPostgres } from "../../../scripts/postgres/startPostgres.ts";
import { childEnvironment } from "../../../scripts/processes/childEnvironment.ts";
import { nodeProgram } from "../../../scripts/processes/nodeProgram.ts";
import { openSupervisor } from "../../../scripts/processes/openSupervisor.ts";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";
import { CHAIN_ID, startBenchChain } from "../index/benchChain.ts";
import { buildChain } from "../index/buildChain.ts";
import { exportLog } from "../index/measureDerive.ts";
import { startMeasured } from "../index/measureIndexer.ts";
import type { WorldSize } from "../index/world.ts";
import type { FamilyFigures } from "./measureFamilies.ts";

/**
 * The cost of families: for one transfer in the derivation, and as shares of the derivation and of a node's backfill of
 * the same log.
 */
export type FamilyCost = FamilyFigures & {
  /** Seconds of processor time of the node's own process; null where the system does not report it. */
  backfillSeconds: number | null;
  ofBackfill: number | null;
};

const SCHEMA = "families";
const MEGABYTE = 1_000_000;

/** Lets a node read a generated chain, derives its exported log under a profiler, and compares the two times. */
export async function benchFamilies(size: WorldSize, progress: Progress): Promise<FamilyCost> {
  const folder = path.join(repositoryRoot, ".tallystick", "bench");
  await mkdir(folder, { recursive: true });
  const supervisor = await openSupervisor();
  try {
    const chain = await progress.step("anvil", async () => ({
      value: await startBenchChain(supervisor, folder, "anvil"),
    }));
    const { ledgerFolder } = await progress.step("chain", async () => {
      const value = await buildChain(chain, size, folder);
      return { value, detail: `${value.transfers} transfers, ${value.records} records` };
    });
    const postgres = await startPostgres({ supervisor, folder: undefined });
    const databaseUrl = await postgres.createDatabase(SCHEMA);
    const { cpuSeconds: backfillSeconds } = await progress.step("backfill", async () => {
      const env = {
        RPC_URL: chain.rpcUrl,
        CHAIN_ID: String(CHAIN_ID),
        TOKEN_ADDRESS: chain.token,
        ANCHORED_LEDGER: chain.anchoredLedger,
        LEDGERS: `${chain.ledger}=${ledgerFolder}`,
        LOGS_BLOCK_RANGE: "50",
        TICK_BLOCKS: "150",
        DATABASE_URL: databaseUrl,
        DATABASE_SCHEMA: SCHEMA,
      };
      const node = await startMeasured(supervisor, { name: "families", root: "indexer", folder, env });
      const value = await node.backfilled();
      await node.stop();
      return { value, detail: `${value.cpuSeconds ?? "?"} s of processor time` };
    });
    const file = path.join(folder, "families.jsonl");
    await exportLog(databaseUrl, SCHEMA, file);
    const figures = await progress.step("derive, with a profiler", async () => ({
      value: await profiled(file),
    }));
    const ofBackfill = backfillSeconds === null ? null : figures.familySeconds / backfillSeconds;
    return { ...figures, backfillSeconds, ofBackfill };
  } finally {
    await supervisor.close();
  }
}

async function profiled(file: string): Promise<FamilyFigures> {
  const args = nodeProgram("tools/bench/families/profileProgram.ts", [file]);
  const options = { env: childEnvironment(), maxBuffer: MEGABYTE };
  const { stdout } = await promisify(execFile)(process.execPath, args, options);
  return JSON.parse(stdout) as FamilyFigures;
}
