import { Contract } from "ethers";
import type { NetworkConnection } from "hardhat/types/network";
import { TallystickError } from "tallystick-protocol/errors";
import { CANONICAL_SAFE, canonicalSafeAddress, SAFE_CONTRACTS, safeSetup } from "./canonicalSafe.ts";
import guardianSafe from "./modules/GuardianSafe.ts";

export type DeployGuardianSafeParameters = {
  /** A Hardhat connection to the chain (`network.connect()`), with the Ignition plugin loaded. */
  connection: NetworkConnection;
  /** The owners of the Safe: distinct accounts. */
  owners: string[];
  /** How many owners must confirm a transaction. Default 2. */
  threshold?: number;
};

/** The chain id of Hardhat and Anvil nodes. */
const LOCAL_CHAIN = 31_337n;

/**
 * Deploys a Safe, checks its owners and its threshold, and returns its address. Safe's own contracts on the
 * chain make it, so every tool recognizes it. On a local chain without them the copies from npm are deployed
 * first.
 *
 * @throws TallystickError `no_safe_contracts` on a real chain without Safe's contracts
 */
export async function deployGuardianSafe({
  connection,
  owners,
  threshold = 2,
}: DeployGuardianSafeParameters): Promise<string> {
  const { provider } = connection.ethers;
  const codes = await Promise.all(Object.values(CANONICAL_SAFE).map((address) => provider.getCode(address)));
  const official = codes.every((code) => code !== "0x");
  const { chainId } = await provider.getNetwork();
  if (!official && chainId !== LOCAL_CHAIN) {
    throw new TallystickError({
      code: "no_safe_contracts",
      message: `Safe's own contracts (1.5.0) are not on chain ${chainId}, and the usual web pages do not show copies of them.`,
      hint: "Have them deployed (github.com/safe-global/safe-deployments), or give --guardian, a multisig that exists there.",
    });
  }
  const address = official
    ? await deployOfficial(connection, owners, threshold)
    : await deployOwn(connection, owners, threshold);
  const safe = new Contract(address, SAFE_CONTRACTS.singleton.abi, provider);
  const [found, needed] = await Promise.all([safe.getOwners?.(), safe.getThreshold?.()]);
  if (String(found).toLowerCase() !== String(owners).toLowerCase() || needed !== BigInt(threshold)) {
    throw new Error(`The Safe at ${address} has owners ${found} and threshold ${needed}`);
  }
  return address;
}

/**
 * Makes the Safe of these owners by the canonical factory. If somebody made it before, it is the same Safe at
 * the same address.
 */
async function deployOfficial(
  { ethers }: NetworkConnection,
  owners: string[],
  threshold: number,
): Promise<string> {
  const address = canonicalSafeAddress(owners, threshold);
  if ((await ethers.provider.getCode(address)) !== "0x") return address;
  const [signer] = await ethers.getSigners();
  const factory = new Contract(CANONICAL_SAFE.factory, SAFE_CONTRACTS.factory.abi, signer);
  const setup = safeSetup(owners, threshold);
  const sent = await factory.createProxyWithNonce?.(CANONICAL_SAFE.singleton, setup, 0);
  await sent.wait();
  return address;
}

async function deployOwn(
  connection: NetworkConnection,
  owners: string[],
  threshold: number,
): Promise<string> {
  const parameters = { GuardianSafe: { owners, threshold } };
  const { guardian } = await connection.ignition.deploy(guardianSafe, { parameters });
  return guardian.getAddress();
}
