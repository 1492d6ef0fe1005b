import { mkdir } from "node:fs/promises";
import path from "node:path";
import type { Progress } from "../../../scripts/cli/progress.ts";
import { startPostgres } from "../../../scripts/postgres/startPostgres.ts";
import { openSupervisor } from "../../../scripts/processes/openSupervisor.ts";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";
import { type BenchChain, CHAIN_ID, startBenchChain } from "./benchChain.ts";
import { type BuiltChain, buildChain } from "./buildChain.ts";
import { type DeriveFigures, exportLog, measureDerive } from "./measureDerive.ts";
import { type BackfillFigures, startMeasured } from "./measureIndexer.ts";
import { SECONDS_PER_BLOCK, TRANSFERS_PER_BLOCK, type WorldSize, type WorldTransfer } from "./world.ts";

/** The phases that can be left out of a run. The cold backfill is always measured. */
export const PHASES = ["cached", "live", "derive"] as const;
export type Phase = (typeof PHASES)[number];

/** The figures of one app; null for phases that were left out. */
export type AppFigures = {
  cold: BackfillFigures;
  cached: BackfillFigures | null;
  liveTransfersPerSecond: number | null;
};

export type SizeFigures = {
  size: WorldSize;
  chain: Omit<BuiltChain, "ledgerFolder">;
  bare: AppFigures;
  indexer: AppFigures;
  derive: {
    trusting: DeriveFigures;
    verifying: DeriveFigures;
    /** Whether the node and both derivations have the same digest. */
    digestsAgree: boolean;
  } | null;
};

/**
 * The number of blocks that an app follows live. They are as full as those of a chain with a block every two
 * seconds and three thousand transfers a second.
 */
const LIVE_BLOCKS = 5;
const LIVE_TRANSACTIONS = 30;
/** Blocks asked for at once. */
const LOGS_BLOCK_RANGE = 50;

/** Measures one size: builds the chain, lets both apps read it, and derives the exported log again. */
export async function benchSize(
  size: WorldSize,
  phases: readonly Phase[],
  progress: Progress,
): Promise<SizeFigures> {
  const folder = path.join(repositoryRoot, ".tallystick", "bench");
  await mkdir(folder, { recursive: true });
  const supervisor = await openSupervisor();
  try {
    const chain = await progress.step("anvil", async () => ({
      value: await startBenchChain(supervisor, folder, "anvil"),
    }));
    const { ledgerFolder, ...built } = await progress.step("chain", async () => {
      const value = await buildChain(chain, size, folder);
      return {
        value,
        detail: `${value.transfers} transfers, ${value.records} records, ${value.segments} segments`,
      };
    });
    const postgres = await startPostgres({ supervisor, folder: undefined });
    const common = {
      RPC_URL: chain.rpcUrl,
      CHAIN_ID: String(CHAIN_ID),
      TOKEN_ADDRESS: chain.token,
      POLLING_INTERVAL_MS: "100",
      LOGS_BLOCK_RANGE: String(LOGS_BLOCK_RANGE),
    };
    const apps = {
      bare: { root: "tools/bench/index/bare", env: {} },
      indexer: {
        root: "indexer",
        env: {
          ANCHORED_LEDGER: chain.anchoredLedger,
          LEDGERS: `${chain.ledger}=${ledgerFolder}`,
          TICK_BLOCKS: "150",
        },
      },
    };
    const databases = {
      bare: await postgres.createDatabase("bare"),
      indexer: await postgres.createDatabase("indexer"),
    };
    const start = (app: keyof typeof apps, schema: string, name = `${app} ${schema}`) => {
      const env = { ...common, ...apps[app].env, DATABASE_URL: databases[app], DATABASE_SCHEMA: schema };
      return startMeasured(supervisor, { name, root: apps[app].root, folder, env });
    };
    const backfill = (app: keyof typeof apps, schema: string) =>
      progress.step(`${app} ${schema}`, async () => {
        const process = await start(app, schema);
        const value = await process.backfilled();
        await process.stop();
        return { value, detail: describe(value) };
      });
    const live = (app: keyof typeof apps) =>
      progress.step(`${app} live`, async () => {
        const process = await start(app, "live", `${app} live`);
        await process.backfilled();
        const value = await measureLive(chain, process);
        await process.stop();
        return { value, detail: `${value.toFixed(0)} transfers/s` };
      });

    // The blocks for the live figures are mined after all backfills, so that both apps read the same chain.
    const cold = { bare: await backfill("bare", "cold"), indexer: await backfill("indexer", "cold") };
    const both = async <T>(phase: Phase, measure: (app: keyof typeof apps) => Promise<T>) =>
      phases.includes(phase)
        ? { bare: await measure("bare"), indexer: await measure("indexer") }
        : { bare: null, indexer: null };
    const cached = await both("cached", (app) => backfill(app, "cached"));
    const derived = phases.includes("derive")
      ? await deriveExported(databases.indexer, folder, progress)
      : null;
    const following = await both("live", live);
    const figuresOf = (app: keyof typeof apps): AppFigures => ({
      cold: cold[app],
      cached: cached[app],
      liveTransfersPerSecond: following[app],
    });

    return {
      size,
      chain: built,
      bare: figuresOf("bare"),
      indexer: figuresOf("indexer"),
      derive: derived,
    };
  } finally {
    await supervisor.close();
  }
}

/** Exports the log that the indexer has read, and derives it again: trusting its signatures, and verifying them. */
async function deriveExported(databaseUrl: string, folder: string, progress: Progress) {
  const file = path.join(folder, "events.jsonl");
  const digest = await progress.step("export", async () => ({
    value: await exportLog(databaseUrl, "cold", file),
  }));
  const measure = async (trust: boolean) =>
    progress.step(trust ? "derive, trusting" : "derive", async () => {
      const value = await measureDerive(file, trust);
      return { value, detail: `${(value.events / value.seconds).toFixed(0)} events/s` };
    });
  const trusting = await measure(true);
  const verifying = await measure(false);
  const digestsAgree = digest !== null && trusting.digest === digest && verifying.digest === digest;
  return { trusting, verifying, digestsAgree };
}

/**
 * How many transfers a second an app follows. The app is stopped while the blocks are mined, so that the
 * chain's own time is not measured.
 */
async function measureLive(
  chain: BenchChain,
  app: Pick<Awaited<ReturnType<typeof startMeasured>>, "untilBlock" | "hold" | "goOn">,
): Promise<number> {
  await app.untilBlock(chain.block());
  const wallet = (n: number) => `0x${n.toString(16).padStart(40, "b")}` as const;
  const transfers = (tx: number) =>
    Array.from({ length: TRANSFERS_PER_BLOCK }, (_, n): WorldTransfer => {
      const from = tx * TRANSFERS_PER_BLOCK + n;
      return { from: wallet(from), to: wallet(from + 5_000), value: 1_000 + n, authorized: n % 3 === 0 };
    });
  app.hold();
  try {
    for (let n = 0; n < LIVE_BLOCKS; n++) {
      for (let tx = 0; tx < LIVE_TRANSACTIONS; tx++) await chain.transfers(transfers(tx));
      await chain.mine(chain.time() + SECONDS_PER_BLOCK);
    }
  } finally {
    app.goOn();
  }
  const began = performance.now();
  await app.untilBlock(chain.block());
  return (LIVE_BLOCKS * LIVE_TRANSACTIONS * TRANSFERS_PER_BLOCK) / ((performance.now() - began) / 1000);
}

function describe({ handlerMicroseconds, peakMegabytes }: BackfillFigures): string {
  return `${handlerMicroseconds.toFixed(0)} µs a transfer, ${peakMegabytes.toFixed(0)} MB`;
}
