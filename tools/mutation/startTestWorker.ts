import { type ChildProcess, spawn } from "node:child_process";
import { childEnvironment } from "../../scripts/processes/childEnvironment.ts";

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
/** For a round that had no end: it may have been the machine's doing, and only a mutant's is a test that failed. */
const MORE_PATIENCE_MS = 6 * PATIENCE_MS;
const NO_END = "(no end in sight)";
/** Every round opens chains in memory; a new process now and then gives it back. */
const ROUNDS_PER_PROCESS = 40;

/** What the slowest tests are told to leave out. A mutant that only the rest would notice counts as one that survives. */
const LESS = { MERKLE_MAX: "16", MATRIX_KINDS: "key" };

/** Runs rounds of test files in a folder, in a process of its own. */
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
      // That the process died, or took its time, may be nothing of the mutant's: only when it does so again it was.
      return outcome.failed?.file === "" ? attempt(first, MORE_PATIENCE_MS) : outcome;
    },
  };
}
