import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { compiledOnce, programEndingWithParent } from "../../../scripts/processes/nodeProgram.ts";
import { BENCH_KEY } from "../ledger/settlementServer.ts";
import { type CuttingProxy, cuttingProxy } from "./cuttingProxy.ts";

/**
 * One of the machines of a ledger: its disk, its connection to the database, and its process. When the process ends it
 * is started again, as an operator's supervisor does.
 */
export type Machine = {
  name: string;
  file: string;
  proxy: CuttingProxy;
  child: ChildProcess;
  /** Whether its process writes the ledger, as the process last reported. */
  isWriter: boolean;
  port: number;
  /** The number of processes that it has had. */
  lives: number;
  exited: Promise<unknown>;
  isClosed: boolean;
  /** The log of its process, and of the process before. */
  log: string;
  logBefore: string;
};

export type MachineSettings = {
  folder: string;
  databaseUrl: string;
  leaseSeconds: number;
  settings?: { [name: string]: string };
};

/** Gives a machine its disk and its proxy, and starts its process. */
export async function openMachine(name: string, parameters: MachineSettings): Promise<Machine> {
  const proxy = await cuttingProxy(parameters.databaseUrl);
  const file = path.join(parameters.folder, name, "local", "ledger.jsonl");
  const machine = {
    name,
    file,
    proxy,
    isWriter: false,
    port: 0,
    lives: 0,
    isClosed: false,
    log: "",
    logBefore: "",
  } as Machine;
  await startMachine(machine, parameters);
  return machine;
}

/** How long a supervisor waits before it starts a process again, in milliseconds. */
const RESTART_MS = 300;

/** Starts its process, and waits until it listens. */
async function startMachine(machine: Machine, parameters: MachineSettings): Promise<void> {
  const { folder, leaseSeconds, settings } = parameters;
  const { args, env, stdio } = programEndingWithParent("services/settlement/main.ts");
  const child = spawn(process.execPath, args, {
    env: {
      ...env,
      PATH: process.env.PATH,
      ...compiledOnce,
      LEDGER_DIR: path.join(folder, machine.name),
      SETTLEMENT_PORT: "0",
      SETTLEMENT_API_KEYS: BENCH_KEY,
      RATE_LIMIT_PER_KEY: "0",
      RATE_LIMIT_PER_ADDRESS: "0",
      CHECKPOINT_PRIVATE_KEY: `0x${"44".repeat(32)}`,
      LEDGER_STORE_URL: machine.proxy.url,
      LEDGER_STORE_KEY: `0x${"55".repeat(32)}`,
      LEDGER_LEASE_SECONDS: String(leaseSeconds),
      ...settings,
    },
    stdio,
  });
  machine.child = child;
  machine.isWriter = false;
  machine.lives++;
  machine.logBefore = machine.log;
  machine.log = "";
  machine.exited = once(child, "exit").then(() => {
    machine.isWriter = false;
  });
  // The last output of a process may arrive after its end.
  const silent = once(child, "close").then(([code, signal]) => {
    machine.log += `ended with ${signal ?? code}\n`;
  });
  const restart = async (): Promise<void> => {
    await silent;
    await sleep(RESTART_MS);
    if (!machine.isClosed) await startMachine(machine, parameters);
  };
  restart().catch((error) => {
    machine.log += String(error);
  });
  child.stderr?.on("data", (chunk) => {
    machine.log = `${machine.log}${chunk}`.slice(-4_000);
  });
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stdout as NonNullable<typeof child.stdout> }).on("line", (line) => {
      const { listening, standby = false } = JSON.parse(line);
      machine.port = Number(new URL(listening).port);
      // The output of a process may be read after its end.
      machine.isWriter = !standby && child.exitCode === null && child.signalCode === null;
      resolve();
    });
    machine.exited.then(() => reject(new Error(`${machine.name} did not start`)));
  });
}

/** Ends its process and its proxy. */
export async function closeMachine(machine: Machine): Promise<void> {
  machine.isClosed = true;
  machine.child.kill("SIGKILL");
  await machine.exited;
  machine.proxy.close();
}
