import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import type { Code, Target } from "./compiler.ts";

const COPIED = [
  "contracts",
  "packages",
  "scripts",
  "tools",
  "test/contracts",
  "test/support",
  "hardhat.config.ts",
  "package.json",
  "tsconfig.json",
];

export type ScratchCopy = {
  folder: string;
  /** Replaces the bytecode in a target's artifact. The tests deploy the contract from this artifact. */
  install: (target: Target, code: Code) => void;
  remove: () => void;
};

/** A built copy of what the contract tests need, in the system's folder for temporary files. */
export function makeScratchCopy(): ScratchCopy {
  const folder = mkdtempSync(path.join(tmpdir(), "tallystick-mutate-"));
  for (const name of COPIED)
    cpSync(path.join(repositoryRoot, name), path.join(folder, name), { recursive: true });
  copyBuild(folder);
  symlinkSync(path.join(repositoryRoot, "node_modules"), path.join(folder, "node_modules"), "dir");
  const built = spawnSync(process.execPath, ["node_modules/hardhat/dist/src/cli.js", "build", "--quiet"], {
    cwd: folder,
    encoding: "utf8",
  });
  if (built.status !== 0) throw new Error(`the copy does not build: ${built.stdout}${built.stderr}`);
  return {
    folder,
    install: ({ source, contract }, { bytecode, deployedBytecode }) => {
      const file = path.join(folder, "artifacts", source, `${contract}.json`);
      const artifact = JSON.parse(readFileSync(file, "utf8"));
      const code = { bytecode: `0x${bytecode}`, deployedBytecode: `0x${deployedBytecode}` };
      writeFileSync(file, JSON.stringify({ ...artifact, ...code }));
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/**
 * Copies the existing build, so that only changed files are compiled. Absolute paths in Hardhat's cache are
 * adapted.
 */
function copyBuild(folder: string): void {
  const cache = path.join("cache", "compile-cache.json");
  for (const name of ["artifacts", "types", cache]) {
    const from = path.join(repositoryRoot, name);
    if (existsSync(from)) cpSync(from, path.join(folder, name), { recursive: true });
  }
  const file = path.join(folder, cache);
  if (!existsSync(file)) return;
  writeFileSync(file, readFileSync(file, "utf8").replaceAll(`${repositoryRoot}/`, `${folder}/`));
}
