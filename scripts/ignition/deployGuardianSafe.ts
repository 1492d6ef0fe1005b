import type { NetworkConnection } from "hardhat/types/network";
import guardianSafe from "./modules/GuardianSafe.ts";

export type DeployGuardianSafeParameters = {
  /** A Hardhat connection to the chain (`network.connect()`), with the Ignition plugin loaded. */
  connection: NetworkConnection;
  /** Who may confirm: distinct accounts. */
  owners: string[];
  /** How many of them have to. Default 2. */
  threshold?: number;
};

/** Deploys a Safe by Hardhat Ignition, checks that it is what was asked for, and answers its address. */
export async function deployGuardianSafe({
  connection,
  owners,
  threshold = 2,
}: DeployGuardianSafeParameters): Promise<string> {
  const parameters = { GuardianSafe: { owners, threshold } };
  const { guardian } = await connection.ignition.deploy(guardianSafe, { parameters });
  const [found, needed] = await Promise.all([guardian.getOwners?.(), guardian.getThreshold?.()]);
  if (String(found).toLowerCase() !== String(owners).toLowerCase() || needed !== BigInt(threshold)) {
    throw new Error(`The Safe at ${await guardian.getAddress()} has owners ${found} and threshold ${needed}`);
  }
  return guardian.getAddress();
}
