import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { nodePackage } from "../../../scripts/bootstrap/findNode.mjs";
import { findNpm } from "../../../scripts/bootstrap/npm.mjs";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";
import { compilerEnvironment } from "../../../tools/compilerEnvironment.ts";
import type { PackedPackage } from "../../../tools/pack/packPackages.ts";

export type Installed = {
  /** The folder of the programs, with the packages in its `node_modules`. */
  folder: string;
  /** The executables of the Node versions to use, by name. */
  nodes: { [name: string]: string };
};

/** Further packages that the programs of these tests need. */
const TOOLS = ["@hono/node-server", "@types/node", "ai"];

/**
 * Unpacks the packages into a folder as npm does, and links all other packages from this repository. It needs no network.
 */
export function linkPackages(packed: readonly PackedPackage[], folder: string): Installed {
  const modules = path.join(folder, "node_modules");
  const names = new Set(TOOLS);
  for (const { name, file, manifest } of packed) {
    const target = path.join(modules, name);
    mkdirSync(target, { recursive: true });
    run("tar", ["-xzf", file, "-C", target, "--strip-components", "1"], folder);
    for (const needed of Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }))
      names.add(needed);
  }
  for (const { name } of packed) names.delete(name);
  for (const name of names) {
    const link = path.join(modules, name);
    mkdirSync(path.dirname(link), { recursive: true });
    symlinkSync(path.join(repositoryRoot, "node_modules", name), link);
  }
  return { folder: asProject(folder), nodes: { [`Node ${process.versions.node}`]: process.execPath } };
}

/** Installs the packages with one `npm install` into an empty folder, with the latest viem. Also gets Node 22 and 24. */
export function fetchPackages(packed: readonly PackedPackage[], folder: string): Installed {
  const nodeName = nodePackage(process.platform, process.arch);
  const npm = findNpm(process.env, process.execPath);
  if (nodeName === undefined || npm === undefined) throw new Error("npm has no Node for this machine");
  const install = [npm, "install", "--no-audit", "--no-fund", "--loglevel=error"];
  run(process.execPath, [...install, ...packed.map(({ file }) => file), "viem@latest", ...TOOLS], folder);

  const apart = path.join(folder, "nodes");
  mkdirSync(apart);
  const majors = ["22", "24"].map((major) => `node${major}@npm:${nodeName}@${major}`);
  run(process.execPath, [...install, "--ignore-scripts", "--prefix", apart, ...majors], apart);
  const nodes = ["22", "24"].map((major) => {
    const { version } = JSON.parse(
      readFileSync(path.join(apart, `node_modules/node${major}/package.json`), "utf8"),
    );
    return [`Node ${version}`, path.join(apart, `node_modules/node${major}/bin/node`)];
  });
  return { folder: asProject(folder), nodes: Object.fromEntries(nodes) };
}

/** Makes the folder a strict TypeScript project, which checks the types of its libraries too. */
function asProject(folder: string): string {
  const compilerOptions = {
    strict: true,
    target: "ES2024",
    module: "NodeNext",
    rootDir: "snippets",
    outDir: "compiled",
    types: ["node"],
    noUncheckedIndexedAccess: true,
  };
  const file = path.join(folder, "package.json");
  let manifest = {};
  try {
    manifest = JSON.parse(readFileSync(file, "utf8"));
  } catch {}
  writeFileSync(file, JSON.stringify({ ...manifest, type: "module", private: true }));
  writeFileSync(
    path.join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions, include: ["snippets/*.ts"] }),
  );
  return folder;
}

/** Runs a command and returns its output. @throws if its exit code is not 0 */
export function run(command: string, args: readonly string[], cwd: string): string {
  const env = { ...process.env, ...compilerEnvironment };
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: "utf8", env });
  if (status === 0) return stdout;
  throw new Error(`${command} ${args.join(" ")} ended with ${status ?? error}:\n${stdout}${stderr}`);
}
