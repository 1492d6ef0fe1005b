import { pathToFileURL } from "node:url";
import { repositoryRoot } from "../repositoryRoot.ts";
import { type PonderParameters, ponderProgram } from "./ponderProgram.ts";

/** {@link ponderProgram} in a checkout, where Node finds its 4,000 modules by those of the last start. */
export function ponderInCheckout(command: "start" | "serve", parameters: PonderParameters): string[] {
  const rememberModules = pathToFileURL(`${repositoryRoot}/scripts/processes/rememberModules.mjs`).href;
  return ["--import", rememberModules, ...ponderProgram(command, parameters)];
}
