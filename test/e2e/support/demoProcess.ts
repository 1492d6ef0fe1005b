import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import type { AgentAnswer } from "../../../scripts/demo/readBack.ts";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";

/** The part of the output of `demo --json` that tests read. */
export type DemoResult = {
  ok: boolean;
  url: string;
  rpcUrl: string;
  settlementUrl: string;
  databaseUrl: string;
  ledgerFile: string;
  pid: number;
  deployment: {
    chainId: number;
    startBlock: number;
    token: `0x${string}`;
    hireEscrow: { address: `0x${string}`; providerId: string; guardian: `0x${string}` };
    anchoredLedger: `0x${string}`;
  };
  ledger: { id: `0x${string}`; size: number; root: `0x${string}` };
  block: number;
  digest: string;
  agents: (AgentAnswer & { name: string })[];
  audits: {
    auditedHire: string;
    sellerAddress: string;
    status: string;
    rounds: { attempts: { auditorAddress: string; verdict: string }[] }[];
  }[];
  slas: {
    name: string;
    overallStatus: string;
    breaches: { metric: string; value: number; status: string; steps: string[] }[];
  }[];
  rewrite: { line: number; anchor: { transaction: `0x${string}`; refusedWith: string } };
};

/** A run of a command through the bootstrap, as `npm run` does it. */
export type Run = {
  child: ChildProcess;
  out: () => string;
  err: () => string;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
};

export function runTallystick(args: string[], env: Record<string, string> = {}): Run {
  const child = spawn(process.execPath, [path.join(repositoryRoot, "scripts/bootstrap.mjs"), ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NO_COLOR: "1", ...env },
  });
  const texts = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (texts.out += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (texts.err += chunk));
  const ended = once(child, "close").then(([code, signal]) => ({ code, signal }));
  return { child, out: () => texts.out, err: () => texts.err, ended };
}

/** Waits until a kept demo has printed its result. Fails with the demo's output if the demo ends earlier. */
export async function demoResult(run: Run): Promise<DemoResult> {
  const failed = run.ended.then(({ code }) => {
    throw new Error(`the demo ended with ${code}:\n${run.err()}`);
  });
  const printed = new Promise<DemoResult>((resolve) => {
    const look = () => {
      try {
        resolve(JSON.parse(run.out()));
      } catch {
        // The output is not complete yet.
      }
    };
    run.child.stdout?.on("data", look);
    look();
  });
  return await Promise.race([printed, failed]);
}
