import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { compiledOnce, programEndingWithParent } from "../../../scripts/processes/nodeProgram.ts";

export type RunningSettlement = {
  child: ChildProcess;
  url: string;
  /** The number of entries that it found on disk. */
  size: number;
  /** The ledger's id, or `local` if it is not anchored. */
  ledger: string;
  file: string;
  /** What it has logged so far. */
  stderr: () => string;
};

/** Starts real settlement processes for a suite, each on a free port. Each ends with its test. */
export function settlementProcesses(environment: () => { [name: string]: string }) {
  const children = new Set<ChildProcess>();
  afterEach(() => {
    for (const child of children) child.kill("SIGKILL");
    children.clear();
  });

  function launch(under?: string[]): ChildProcess {
    const child = launchSettlement(environment(), under);
    children.add(child);
    return child;
  }

  return {
    /** Starts a process, and waits until it listens. */
    start: (under?: string[]): Promise<RunningSettlement> => listening(launch(under)),
    /** Starts a process that must end by itself. */
    async fail(): Promise<{ code: number | null; err: string }> {
      const child = launch();
      const [err, [code]] = await Promise.all([text(child.stderr!), once(child, "exit")]);
      return { code, err };
    },
  };
}

/**
 * Starts a settlement process that ends with this process.
 *
 * @param under a command that runs the program, which follows the command's own arguments
 */
export function launchSettlement(
  environment: { [name: string]: string },
  under: string[] = [],
): ChildProcess {
  const { args: program, env, stdio } = programEndingWithParent("services/settlement/main.ts");
  const [command = "", ...args] = [...under, process.execPath, ...program];
  return spawn(command, args, {
    env: {
      PATH: process.env.PATH,
      ...compiledOnce,
      SETTLEMENT_PORT: "0",
      SETTLEMENT_API_KEYS: "key",
      ...environment,
      ...env,
    },
    stdio,
  });
}

/** Waits until a process listens. */
export async function listening(child: ChildProcess): Promise<RunningSettlement> {
  let stderr = "";
  child.stderr?.on("data", (chunk) => {
    stderr += chunk;
  });
  for await (const line of createInterface({ input: child.stdout! })) {
    const { listening, size, ledger, file } = JSON.parse(line);
    // It has logged before it printed this line. Both may come in the same turn of the event loop, in any order.
    await new Promise((resolve) => setImmediate(resolve));
    return { child, url: listening, size, ledger, file, stderr: () => stderr };
  }
  throw new Error(`it did not start: ${stderr}`);
}

/** Sends a signal and waits for the end; gives the exit code. */
export async function stop(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  const exit = once(child, "exit");
  child.kill(signal);
  const [code] = await exit;
  return code;
}

/** Settles one proposal on the present head. Gives its hash, or undefined if it was not settled. */
export async function settle(url: string, task: string): Promise<string | undefined> {
  return (await propose(url, task)).hash;
}

/** The result of one proposal of about 2 KB on the present head: `hash` if it was settled, `code` if it failed. */
export async function propose(
  url: string,
  task: string,
): Promise<{ status: number; code?: string; hash?: string }> {
  const latest = (await (await fetch(`${url}/v1/ledger/latest`)).json()) as { hash: string };
  const response = await fetch(`${url}/v1/settle`, {
    method: "POST",
    headers: { authorization: "Bearer key" },
    body: JSON.stringify({
      header: { task_id: task, parent_hash: latest.hash },
      payload: { data_update: { task, padding: "x".repeat(2000) }, confidence_score: 0.9 },
    }),
  });
  const { hash, code } = (await response.json()) as { hash?: string; code?: string };
  return { status: response.status, ...(code && { code }), ...(hash && { hash }) };
}
