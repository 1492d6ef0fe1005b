import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { repositoryRoot } from "../repositoryRoot.ts";

const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;

/** From Node 24 on it reads TypeScript itself, in two thirds of the time. */
const readsTypeScript =
  process.features.typescript === "strip" && Number.parseInt(process.versions.node, 10) >= 24;

/** The arguments that make `process.execPath` run a TypeScript file, from whatever folder it is started. */
export function nodeProgram(file: string, args: string[] = []): string[] {
  return [...(readsTypeScript ? [] : ["--import", tsx]), `${repositoryRoot}/${file}`, ...args];
}
