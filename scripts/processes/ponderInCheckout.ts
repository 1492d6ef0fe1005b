import { pathToFileURL } from "node:url";
import { repositoryRoot } from "../repositoryRoot.ts";
import { type PonderParameters, ponderProgram } from "./ponderProgram.ts";

/**
 * {@link ponderProgram} in a checkout. There Node finds Ponder's 4,000 modules where it found them at the last start.
 */
export function ponderInCheckout(command: "start" | "serve", parameters: PonderParameters): string[] {
  const rememberModules = pathToFileURL(`${repositoryRoot}/scripts/processes/rememberModules.mjs`).href;
  return ["--import", rememberModules, ...ponderProgram(command, parameters)];
}
