import { type ChildProcess, spawn } from "node:child_process";
import { childEnvironment } from "../../scripts/processes/childEnvironment.ts";

/**
 * The result of a round of tests. `failed` is the first test that failed, and its file, which is "" if no
 * single test caused the failure.
 */
export type Round = { passed: number; failed?: { test: string; file: string } };

export type TestWorker = {
  /**
   * Runs the tests until the first one fails. A test that takes too long counts as failed.
   *
   * @param first the ends of the paths of the files that run first
   */
  round: (first?: string[]) => Promise<Round>;
  stop: () => Promise<void>;
};

const PATIENCE_MS = 240_000;
/**
 * The time limit of a second attempt. A round without an end may be the fault of a busy machine, and not of
 * the mutant.
 */
const MORE_PATIENCE_MS = 6 * PATIENCE_MS;
const NO_END = "(no end in sight)";
/** Every round opens chains in memory. A new process after some rounds frees this memory. */
const ROUNDS_PER_PROCESS = 40;

/**
 * Settings that shorten the slowest tests. A mutant that only the omitted parts would notice counts as a
 * survivor.
 */
const LESS = { MERKLE_MAX: "16", MATRIX_KINDS: "key" };

/** Runs rounds of test files in a folder, in a separate process. */
export function startTestWorker(folder: string, files: string[]): TestWorker {
  let child: ChildProcess | undefined;
  let rounds = 0;

  async function start(): Promise<ChildProcess> {
    const args = ["--import", "tsx", "tools/mutation/testWorker.ts", ...files];
    const started = spawn(process.execPath, args, {
      cwd: folder,
      env: childEnvironment({ HARDHAT_DISABLE_TELEMETRY_PROMPT: "true", ...LESS }),
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

  async function attempt(first: string[], patience: number): Promise<Round> {
    if (rounds >= ROUNDS_PER_PROCESS || child?.connected === false) await stop();
    child ??= await start();
    rounds++;
    const running = child;
    let timer: NodeJS.Timeout | undefined;
    const outcome = await new Promise<Round>((resolve) => {
      const fail = (test: string) => resolve({ passed: 0, failed: { test, file: "" } });
      timer = setTimeout(() => fail(NO_END), patience);
      running.once("exit", (code) => fail(`(the process ended with ${code})`));
      running.once("error", (error) => fail(`(${error.message})`));
      running.once("message", (message) => resolve(message as Round));
      running.send({ first });
    });
    clearTimeout(timer);
    for (const event of ["exit", "error", "message"]) running.removeAllListeners(event);
    if (outcome.failed?.file === "") await stop();
    return outcome;
  }

  return {
    stop,
    round: async (first = []) => {
      const outcome = await attempt(first, PATIENCE_MS);
      // A process may die or be too slow without the mutant. So only a second failure counts.
      return outcome.failed?.file === "" ? attempt(first, MORE_PATIENCE_MS) : outcome;
    },
  };
}
