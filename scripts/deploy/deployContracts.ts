import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { createHardhatRuntimeEnvironment } from "hardhat/hre";
import { createPublicClient, http, isAddressEqual } from "viem";
import userConfig from "../../hardhat.config.ts";
import { hireEscrowAbi } from "../../protocol/abi/hireEscrowAbi.ts";
import type { Address } from "../../protocol/address.ts";
import { TallystickError } from "../../protocol/errors.ts";
import type { Hex } from "../../protocol/hex.ts";
import { deployTallystick } from "../ignition/deployTallystick.ts";
import { repositoryRoot } from "../repositoryRoot.ts";
import type { Deployment } from "./deployment.ts";

/** What to deploy and where. */
export type DeployContractsParameters = {
  rpcUrl: string;
  chainId: number;
  /** The deployer's key; without one the node's own unlocked accounts sign. */
  privateKey?: Hex;
  /** USDC; without one a TestUSDC is deployed. */
  token?: Address;
  guardian: Address;
  providerId: string;
  /** Folder of Ignition's journal: a deployment that was interrupted is taken up again from it. */
  journal: string;
};

/**
 * Deploys the contracts by Hardhat Ignition and checks on the chain that they are there as asked for.
 *
 * @throws TallystickError `deployment_failed`, `deployment_not_there`
 */
export async function deployContracts(parameters: DeployContractsParameters): Promise<Deployment> {
  const { rpcUrl, chainId, privateKey, token, guardian, providerId, journal } = parameters;
  const client = createPublicClient({ transport: http(rpcUrl) });
  const startBlock = await firstBlock(journal, async () => Number(await client.getBlockNumber()));

  const hre = await createHardhatRuntimeEnvironment(
    {
      ...userConfig,
      paths: { ...userConfig.paths, ignition: journal },
      networks: {
        target: {
          type: "http",
          url: rpcUrl,
          chainId,
          accounts: privateKey === undefined ? "remote" : [privateKey],
        },
      },
    },
    {},
    repositoryRoot,
  );
  const connection = await hre.network.create("target");
  let deployed: Awaited<ReturnType<typeof deployTallystick>>;
  try {
    deployed = await deployTallystick({ connection, guardian, providerId, ...(token && { token }) });
  } catch (cause) {
    throw new TallystickError({
      code: "deployment_failed",
      message: `Ignition could not deploy: ${(cause as Error).message}`,
      hint: "Fix what it says and run the same command again: it goes on where it stopped.",
      cause,
    });
  } finally {
    await connection.close();
  }

  const deployment: Deployment = {
    chainId,
    startBlock,
    token: deployed.token.toLowerCase() as Address,
    hireEscrow: { address: deployed.hireEscrow.toLowerCase() as Address, providerId, guardian },
    anchoredLedger: deployed.anchoredLedger.toLowerCase() as Address,
  };
  await checkDeployment(rpcUrl, deployment);
  return deployment;
}

/**
 * Checks that every contract of a deployment has code, and that the escrow was made for this token, guardian and
 * provider.
 *
 * @throws TallystickError `deployment_not_there`
 */
export async function checkDeployment(rpcUrl: string, deployment: Deployment): Promise<void> {
  const client = createPublicClient({ transport: http(rpcUrl) });
  const { token, anchoredLedger, hireEscrow } = deployment;
  const missing = (message: string) =>
    new TallystickError({
      code: "deployment_not_there",
      message,
      hint: "Check the RPC URL: is it the chain that was deployed to, and has it caught up?",
    });
  for (const [name, address] of Object.entries({ token, anchoredLedger, hireEscrow: hireEscrow.address })) {
    const code = await client.getCode({ address });
    if (code === undefined || code === "0x") throw missing(`There is no code at ${address} (${name}).`);
  }
  const read = (functionName: "token" | "guardian" | "providerId") =>
    client.readContract({ address: hireEscrow.address, abi: hireEscrowAbi, functionName });
  const [itsToken, itsGuardian, itsProvider] = await Promise.all([
    read("token"),
    read("guardian"),
    read("providerId"),
  ]);
  if (!isAddressEqual(itsToken as Address, token))
    throw missing(`The escrow is for the token ${itsToken}, not ${token}.`);
  if (!isAddressEqual(itsGuardian as Address, hireEscrow.guardian)) {
    throw missing(`The escrow's guardian is ${itsGuardian}, not ${hireEscrow.guardian}.`);
  }
  if (itsProvider !== hireEscrow.providerId) {
    throw missing(`The escrow's provider is "${itsProvider}", not "${hireEscrow.providerId}".`);
  }
}

/** The block at the first attempt; a second attempt finds contracts of the first one below the head of its day. */
async function firstBlock(journal: string, head: () => Promise<number>): Promise<number> {
  const file = path.join(journal, "start-block");
  const known = await readFile(file, "utf8").catch(() => "");
  if (/^\d+$/.test(known.trim())) return Number(known);
  const block = await head();
  await mkdir(journal, { recursive: true });
  await writeFile(file, `${block}\n`);
  return block;
}
