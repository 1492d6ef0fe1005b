import { pathToFileURL } from "node:url";
import { repositoryRoot } from "../repositoryRoot.ts";

/**
 * The environment for programs that start again and again. Node caches the compiled code for all of them, in
 * a folder to which nobody else can write.
 */
export const compiledOnce = {
  NODE_COMPILE_CACHE: `${repositoryRoot}/node_modules/.cache/tallystick-compiled`,
};

/** The arguments of a Node that is to read TypeScript, from whatever folder it is started. It reads no `.tsx`. */
export const readTypeScript = [
  "--import",
  pathToFileURL(`${repositoryRoot}/scripts/processes/readTypeScript.mjs`).href,
];

/** The arguments that make `process.execPath` run a TypeScript file, from whatever folder it is started. */
export function nodeProgram(file: string, args: string[] = []): string[] {
  return [...readTypeScript, `${repositoryRoot}/${file}`, ...args];
}

/**
 * The arguments that make `process.execPath` run a TypeScript file that ends together with this process. They are for
 * programs that a supervisor cannot start, because the caller works on the process itself. Give `env` and `stdio` to
 * `spawn` as well.
 */
export function programEndingWithParent(file: string) {
  const watch = pathToFileURL(`${repositoryRoot}/scripts/processes/endWithParent.ts`).href;
  return {
    args: [...readTypeScript, "--import", watch, `${repositoryRoot}/${file}`],
    env: { TALLYSTICK_LIFELINE: "3" },
    stdio: ["ignore", "pipe", "pipe", "pipe"] as ["ignore", "pipe", "pipe", "pipe"],
  };
}
