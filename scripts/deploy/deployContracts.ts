import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { createHardhatRuntimeEnvironment } from "hardhat/hre";
import type { NetworkConnection } from "hardhat/types/network";
import type { Address } from "tallystick-protocol/address";
import { TallystickError } from "tallystick-protocol/errors";
import type { Hex } from "tallystick-protocol/hex";
import { rpcTransport } from "tallystick-sdk/net/rpcTransport";
import { createPublicClient } from "viem";
import userConfig from "../../hardhat.config.ts";
import { deployFrozen } from "../ignition/deployFrozen.ts";
import { deployGuardianSafe } from "../ignition/deployGuardianSafe.ts";
import { deployTallystick } from "../ignition/deployTallystick.ts";
import { frozenAddresses } from "../ignition/frozenAddresses.ts";
import testToken from "../ignition/modules/TestToken.ts";
import { repositoryRoot } from "../repositoryRoot.ts";
import { checkDeployment } from "./checkDeployment.ts";
import type { Deployment } from "./deployment.ts";
import { firstBlockWithCode } from "./firstBlockWithCode.ts";

/** What to deploy and where. */
export type DeployContractsParameters = {
  rpcUrl: string;
  chainId: number;
  /** The deployer's key; without one the node's own unlocked accounts sign. */
  privateKey?: Hex;
  /** USDC; without one a TestUSDC is deployed. */
  token?: Address;
  /** Who may pause deposits; without it `guardianOwners` get a Safe. */
  guardian?: Address;
  /** Owners of a new Safe, two of whom have to confirm. */
  guardianOwners?: readonly Address[];
  providerId: string;
  /** Whether the escrow and the ledger contract get the addresses that depend on their arguments alone (CREATE2). */
  deterministic?: boolean;
  /** The folder of Ignition's journal. An interrupted deployment continues from it. */
  journal: string;
};

/**
 * Deploys the contracts by Hardhat Ignition, and checks on the chain that they are the requested ones.
 *
 * @throws TallystickError `deployment_failed`, `deployment_not_there`
 */
export async function deployContracts(parameters: DeployContractsParameters): Promise<Deployment> {
  const { rpcUrl, chainId, privateKey, journal } = parameters;
  const client = createPublicClient({ transport: rpcTransport(rpcUrl) });
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
  let deployed: Awaited<ReturnType<typeof deployAll>>;
  try {
    deployed = await deployAll(connection, parameters);
  } catch (cause) {
    throw new TallystickError({
      code: "deployment_failed",
      message: `Ignition could not deploy: ${(cause as Error).message}`,
      hint: "Correct what it reports, and run the same command again: it continues where it stopped.",
      cause,
    });
  } finally {
    await connection.close();
  }

  const { token, hireEscrow, anchoredLedger, guardian, foundThere } = deployed;
  const deployment: Deployment = {
    chainId,
    // Contracts that somebody else deployed earlier have earlier events too.
    startBlock: foundThere
      ? Math.min(startBlock, await firstBlockWithCode(client, [hireEscrow, anchoredLedger]))
      : startBlock,
    token,
    hireEscrow: { address: hireEscrow, providerId: parameters.providerId, guardian },
    anchoredLedger,
  };
  await checkDeployment(rpcUrl, deployment);
  return deployment;
}

async function deployAll(connection: NetworkConnection, parameters: DeployContractsParameters) {
  const { guardianOwners = [], providerId, deterministic = false } = parameters;
  const guardian =
    parameters.guardian ?? lower(await deployGuardianSafe({ connection, owners: [...guardianOwners] }));
  if (!deterministic) {
    const { token } = parameters;
    const plain = await deployTallystick({ connection, guardian, providerId, ...(token && { token }) });
    return { ...addresses(plain), guardian, foundThere: false };
  }
  const token = parameters.token ?? (await deployTestToken(connection));
  const { hireEscrow, anchoredLedger } = frozenAddresses({ token, guardian, providerId });
  const codes = [hireEscrow, anchoredLedger].map((address) => connection.ethers.provider.getCode(address));
  const foundThere = (await Promise.all(codes)).some((code) => code !== "0x");
  const frozen = await deployFrozen({ connection, token, guardian, providerId });
  return { ...addresses(frozen), guardian, foundThere };
}

async function deployTestToken(connection: NetworkConnection): Promise<Address> {
  const { token } = await connection.ignition.deploy(testToken);
  return lower(await token.getAddress());
}

function addresses(deployed: { token: string; hireEscrow: string; anchoredLedger: string }) {
  const { token, hireEscrow, anchoredLedger } = deployed;
  return { token: lower(token), hireEscrow: lower(hireEscrow), anchoredLedger: lower(anchoredLedger) };
}

function lower(address: string): Address {
  return address.toLowerCase() as Address;
}

/**
 * The block at the first attempt. A second attempt needs it, because contracts of the first attempt are older
 * than the present head.
 */
async function firstBlock(journal: string, head: () => Promise<number>): Promise<number> {
  const file = path.join(journal, "start-block");
  const known = await readFile(file, "utf8").catch(() => "");
  if (/^\d+$/.test(known.trim())) return Number(known);
  const block = await head();
  await mkdir(journal, { recursive: true });
  await writeFile(file, `${block}\n`);
  return block;
}
