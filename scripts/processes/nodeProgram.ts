import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { repositoryRoot } from "../repositoryRoot.ts";

const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;

/** Node 24 and later read TypeScript themselves, which takes a third less time. */
const readsTypeScript =
  process.features.typescript === "strip" && Number.parseInt(process.versions.node, 10) >= 24;

/**
 * The environment for programs that start again and again. Node caches the compiled code for all of them, in
 * a folder to which nobody else can write.
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
