import { type ChildProcess, spawn } from "node:child_process";
import { childEnvironment } from "../processes/childEnvironment.ts";

/** How a round of tests went; `failed` is the first test that did, and the file it stands in ("" when none did it). */
export type Round = { passed: number; failed?: { test: string; file: string } };

export type TestWorker = {
  /**
   * Runs all tests up to the first that fails; one that takes too long counts as failed.
   *
   * @param first the files to begin with, as their paths end
   */
  round: (first?: string[]) => Promise<Round>;
  stop: () => Promise<void>;
};

const PATIENCE_MS = 240_000;
/** Every round opens chains in memory; a new process now and then gives it back. */
const ROUNDS_PER_PROCESS = 40;

/** Runs rounds of test files in a folder, in a process of its own. */
export function startTestWorker(folder: string, files: string[]): TestWorker {
  let child: ChildProcess | undefined;
  let rounds = 0;

  async function start(): Promise<ChildProcess> {
    const args = ["--import", "tsx", "scripts/mutation/testWorker.ts", ...files];
    const started = spawn(process.execPath, args, {
      cwd: folder,
      env: childEnvironment({ HARDHAT_DISABLE_TELEMETRY_PROMPT: "true", MERKLE_MAX: "16" }),
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    await new Promise<void>((resolve, reject) => {
      started.once("message", () => resolve());
      started.once("exit", (code) => reject(new Error(`the tests ended with ${code} before the first ran`)));
    });
    return started;
  }

  async function stop(): Promise<void> {
    const ending = child;
    child = undefined;
    rounds = 0;
    if (!ending || ending.exitCode !== null) return;
    await new Promise<void>((resolve) => {
      ending.once("exit", () => resolve());
      ending.kill("SIGKILL");
    });
  }

  return {
    stop,
    round: async (first = []) => {
      if (rounds >= ROUNDS_PER_PROCESS) await stop();
      child ??= await start();
      rounds++;
      const running = child;
      const outcome = await new Promise<Round>((resolve) => {
        const timer = setTimeout(
          () => resolve({ passed: 0, failed: { test: "(no end in sight)", file: "" } }),
          PATIENCE_MS,
        );
        running.once("exit", (code) =>
          resolve({ passed: 0, failed: { test: `(the process ended with ${code})`, file: "" } }),
        );
        running.once("message", (message) => {
          clearTimeout(timer);
          resolve(message as Round);
        });
        running.send({ first });
      });
      running.removeAllListeners("exit");
      if (outcome.failed?.file === "") await stop();
      return outcome;
    },
  };
}
