import { spawn } from "node:child_process";
import path from "node:path";

const parent = process.ppid;

/**
 * Runs a program to its end, and passes our signals on to it. If npm started this process and npm is gone,
 * the program gets SIGTERM. The fourth descriptor in `options.stdio` may be a pipe. It closes when this
 * process ends in any way, so a child that watches the pipe ends too.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd: string, env: NodeJS.ProcessEnv, stdio: any[] }} options
 * @returns {Promise<number>} the exit code; 128 plus the signal's number if a signal ended it, as in a shell
 */
export async function run(command, args, options) {
  return await finish(spawn(command, args, options));
}

/**
 * Like `run`, for a program whose output matters only when it fails.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd: string, env: NodeJS.ProcessEnv, stdio: any[] }} options
 */
export async function runQuietly(command, args, options) {
  const child = spawn(command, args, options);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (output += chunk));
  const code = await finish(child);
  return { code, output };
}

/** @param {import("node:child_process").ChildProcess} child @returns {Promise<number>} */
async function finish(child) {
  const signals = /** @type {NodeJS.Signals[]} */ (["SIGINT", "SIGTERM", "SIGHUP"]);
  const forward = (/** @type {NodeJS.Signals} */ signal) => void child.kill(signal);
  for (const signal of signals) process.on(signal, forward);
  const watch = setInterval(() => {
    if (!process.env.npm_lifecycle_event || process.ppid === parent) return;
    clearInterval(watch);
    child.kill("SIGTERM");
  }, 500);
  try {
    return await new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("exit", (code, signal) => resolve(code ?? 128 + (signalNumbers[signal ?? ""] ?? 0)));
    });
  } finally {
    clearInterval(watch);
    for (const signal of signals) process.off(signal, forward);
  }
}

/** @type {Record<string, number>} */
const signalNumbers = { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGABRT: 6, SIGKILL: 9, SIGSEGV: 11, SIGTERM: 15 };

/** @param {string} node @returns {NodeJS.ProcessEnv} our environment, with `node` first on the PATH */
export function withNodeFirst(node) {
  const env = { ...process.env };
  const key = Object.keys(env).find((name) => name.toUpperCase() === "PATH") ?? "PATH";
  env[key] = [path.dirname(node), env[key] ?? ""].join(path.delimiter);
  return env;
}
