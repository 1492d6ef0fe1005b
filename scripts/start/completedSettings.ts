import path from "node:path";
import { readDeployment } from "../deploy/deployment.ts";
import { repositoryRoot } from "../repositoryRoot.ts";
import { completeSettings } from "./nodeEnvironment.ts";
import type { Environment } from "./processEnvironment.ts";

/**
 * The settings of a command, completed as `npm start` completes those of a node: by the network's preset and the
 * recorded deployment.
 */
export async function completedSettings(): Promise<Environment> {
  const { set } = await completeSettings(process.env, (chainId) =>
    readDeployment(path.join(repositoryRoot, "contracts", "deployments", `${chainId}.json`)),
  );
  return set;
}
