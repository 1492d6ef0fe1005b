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

/** The arguments that make `process.execPath` run a TypeScript file, from whatever folder it is started. */
export function nodeProgram(file: string, args: string[] = []): string[] {
  return [...(readsTypeScript ? [] : ["--import", tsx]), `${repositoryRoot}/${file}`, ...args];
}
