import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { repositoryRoot } from "../repositoryRoot.ts";

const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;

/** From Node 24 on it reads TypeScript itself, in two thirds of the time. */
const readsTypeScript =
  process.features.typescript === "strip" && Number.parseInt(process.versions.node, 10) >= 24;

/**
 * Environment for a program that is started again and again: Node keeps what it has compiled, for all of them, where
 * nobody else can put anything.
 */
export const compiledOnce = {
  NODE_COMPILE_CACHE: `${repositoryRoot}/node_modules/.cache/tallystick-compiled`,
};

const readTypeScript = readsTypeScript ? [] : ["--import", tsx];

/** The arguments that make `process.execPath` run a TypeScript file, from whatever folder it is started. */
export function nodeProgram(file: string, args: string[] = []): string[] {
  return [...readTypeScript, `${repositoryRoot}/${file}`, ...args];
}

/**
 * The same for a program that ends with this process, however that ends; for those that a supervisor cannot start, because
 * something is done to the process itself. `env` and `stdio` are to be given to `spawn` as well.
 */
export function programEndingWithParent(file: string) {
  const watch = pathToFileURL(`${repositoryRoot}/scripts/processes/endWithParent.ts`).href;
  return {
    args: [...readTypeScript, "--import", watch, `${repositoryRoot}/${file}`],
    env: { TALLYSTICK_LIFELINE: "3" },
    stdio: ["ignore", "pipe", "pipe", "pipe"] as ["ignore", "pipe", "pipe", "pipe"],
  };
}
