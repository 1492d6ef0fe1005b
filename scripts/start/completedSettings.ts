import path from "node:path";
import { type Deployment, readDeployment } from "../deploy/deployment.ts";
import { repositoryRoot } from "../repositoryRoot.ts";
import { completeSettings } from "./nodeEnvironment.ts";
import type { Environment } from "./processEnvironment.ts";

/**
 * The settings of a command, completed as `npm start` completes those of a node: by the network's preset and the
 * recorded deployment. The block from which the recorded contracts exist may be too late for another escrow, so then it is
 * left out.
 *
 * @param escrow the escrow that the command names; default: those in `ESCROWS`
 * @param folder the recorded deployments
 */
export async function completedSettings(
  escrow?: string,
  folder = path.join(repositoryRoot, "contracts", "deployments"),
): Promise<Environment> {
  const found: Deployment[] = [];
  const { set, completed } = await completeSettings(process.env, async (chainId) => {
    const deployment = await readDeployment(path.join(folder, `${chainId}.json`));
    if (deployment) found.push(deployment);
    return deployment;
  });
  const meant = (escrow ?? set.ESCROWS ?? "").toLowerCase();
  const isOfOthers = found.some(({ hireEscrow }) => !meant.includes(hireEscrow.address.toLowerCase()));
  if (isOfOthers && completed.START_BLOCK !== undefined) delete set.START_BLOCK;
  return set;
}
