import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { repositoryRoot } from "../repositoryRoot.ts";

const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;

/** The arguments that make `process.execPath` run a TypeScript file, from whatever folder it is started. */
export function nodeProgram(file: string, args: string[] = []): string[] {
  return ["--import", tsx, `${repositoryRoot}/${file}`, ...args];
}
