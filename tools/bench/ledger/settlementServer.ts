import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { compiledOnce, programEndingWithParent } from "../../../scripts/processes/nodeProgram.ts";

/** A settlement process of its own, on a free port. */
export type SettlementServer = { child: ChildProcess; port: number; size: number; kill: () => Promise<void> };

/** The API key of each process that {@link startSettlement} starts. */
export const BENCH_KEY = "bench-key";

/** Starts a settlement process on a folder and waits until it listens. */
export async function startSettlement(
  ledgerDir: string,
  settings: { [name: string]: string } = {},
): Promise<SettlementServer> {
  const { args, env, stdio } = programEndingWithParent("services/settlement/main.ts");
  const child = spawn(process.execPath, args, {
    env: {
      ...env,
      PATH: process.env.PATH,
      ...compiledOnce,
      LEDGER_DIR: ledgerDir,
      SETTLEMENT_PORT: "0",
      SETTLEMENT_API_KEYS: BENCH_KEY,
      RATE_LIMIT_PER_KEY: "0",
      RATE_LIMIT_PER_ADDRESS: "0",
      ...settings,
    },
    stdio,
  }) as ChildProcessByStdio<null, Readable, Readable>;
  let stderr = "";
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  const exited = once(child, "exit");
  for await (const line of createInterface({ input: child.stdout })) {
    const { listening, size } = JSON.parse(line);
    const kill = async (): Promise<void> => {
      child.kill("SIGKILL");
      await exited;
    };
    return { child, port: Number(new URL(listening).port), size, kill };
  }
  throw new Error(`the settlement process did not start: ${stderr}`);
}
