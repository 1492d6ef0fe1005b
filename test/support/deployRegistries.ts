import { readFileSync } from "node:fs";
import path from "node:path";
import type { Address } from "tallystick-protocol/address";
import {
  type Abi,
  encodeFunctionData,
  type Hex,
  type PublicActions,
  pad,
  type TestActions,
  type WalletActions,
} from "viem";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { readPublished } from "../../tools/registries/readPublished.ts";

/** A viem client of a test chain, with an account that has ether. */
export type Deployer = Pick<PublicActions, "waitForTransactionReceipt" | "getBlockNumber"> &
  Pick<TestActions, "setStorageAt"> &
  Pick<WalletActions, "deployContract" | "writeContract"> & { account: { address: Hex } };

export type DeployedRegistries = Awaited<ReturnType<typeof deployRegistries>>;

/** A folder with the compiled published registries, which replace ours. `npm run test:registries` sets this variable. */
const PUBLISHED = process.env.ERC8004_ARTIFACTS;

/** For each of our contracts, the published contract that it imitates. */
const PUBLISHED_NAMES = {
  Erc8004Identity: "IdentityRegistryUpgradeable",
  Erc8004Reputation: "ReputationRegistryUpgradeable",
} as const;

/** The storage slot of the owner in OpenZeppelin's upgradeable contracts (erc7201:openzeppelin.storage.Ownable). */
const OWNER_SLOT = "0x9016d09d72d40fdae2fd8ceac6b6234c7706214fd39c1cd1e609a0528c199300";

type RegistryName = keyof typeof PUBLISHED_NAMES;

/**
 * Deploys the registries of ERC-8004 behind proxies, as on Base: first the identity registry, then its reputation
 * registry. The contracts are those of `contracts/test/erc8004/`, which must be compiled, or the published ones. The
 * deployer may upgrade them.
 */
export async function deployRegistries(client: Deployer) {
  const mined = async (hash: Hex) => {
    const receipt = await client.waitForTransactionReceipt({ hash, pollingInterval: 10 });
    if (receipt.status !== "success") throw new Error(`transaction ${hash} failed`);
    return receipt;
  };
  const deploy = async (name: string, args: unknown[] = []): Promise<Address> => {
    const { abi, bytecode } = registryArtifact(name);
    const hash = await client.deployContract({ chain: null, abi, bytecode, args } as never);
    return (await mined(hash)).contractAddress?.toLowerCase() as Address;
  };
  const callOf = (name: string, functionName: string, args: unknown[]) =>
    encodeFunctionData({ abi: registryArtifact(name).abi, functionName, args });
  const fromBlock = (await client.getBlockNumber()) + 1n;
  const admin = client.account.address;
  const behindProxy = async (name: RegistryName, args: unknown[]) => {
    const implementation = await deploy(name);
    if (PUBLISHED === undefined) {
      const data = callOf(name, "initialize", [admin, ...args]);
      return { implementation, proxy: await deploy("Erc8004Proxy", [implementation, data]) };
    }
    // Only the owner may call `initialize` of the published code. On Base, earlier code behind the proxy set the owner.
    const proxy = await deploy("Erc8004Proxy", [implementation, callOf(name, "getVersion", [])]);
    await client.setStorageAt({ address: proxy, index: OWNER_SLOT, value: pad(admin) });
    const { abi } = registryArtifact(name);
    const call = { address: proxy, abi, functionName: "initialize", args };
    await mined(await client.writeContract({ chain: null, ...call } as never));
    return { implementation, proxy };
  };
  const identity = await behindProxy("Erc8004Identity", []);
  const reputation = await behindProxy("Erc8004Reputation", [identity.proxy]);
  return {
    identity: identity.proxy,
    reputation: reputation.proxy,
    identityImplementation: identity.implementation,
    reputationImplementation: reputation.implementation,
    /** The first block that has one of these contracts. */
    fromBlock,
    /** Upgrades a registry to another copy of its code, and returns the copy's address. */
    upgrade: async (registry: "identity" | "reputation"): Promise<Address> => {
      const name = registry === "identity" ? "Erc8004Identity" : "Erc8004Reputation";
      const implementation = await deploy(name);
      const address = registry === "identity" ? identity.proxy : reputation.proxy;
      const { abi } = registryArtifact(name);
      const call = { address, abi, functionName: "upgradeToAndCall", args: [implementation, "0x"] };
      await mined(await client.writeContract({ chain: null, ...call } as never));
      return implementation;
    },
  };
}

/** The compiled contract of `contracts/test/erc8004/`, or the published contract in its place. */
function registryArtifact(name: string): { abi: Abi; bytecode: Hex } {
  if (PUBLISHED !== undefined && name in PUBLISHED_NAMES)
    return readPublished(PUBLISHED, PUBLISHED_NAMES[name as RegistryName]);
  const file = path.join(repositoryRoot, "artifacts/contracts/test/erc8004", `${name}.sol`, `${name}.json`);
  return JSON.parse(readFileSync(file, "utf8"));
}
