import { readFileSync } from "node:fs";
import path from "node:path";
import type { Address } from "tallystick-protocol/address";
import { type Abi, encodeFunctionData, type Hex, type PublicActions, type WalletActions } from "viem";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";

/** A viem client with an account that has ether. */
export type Deployer = Pick<PublicActions, "waitForTransactionReceipt" | "getBlockNumber"> &
  Pick<WalletActions, "deployContract" | "writeContract"> & { account: { address: Hex } };

export type DeployedRegistries = Awaited<ReturnType<typeof deployRegistries>>;

/**
 * Deploys the registries of ERC-8004 behind proxies, as they stand on Base: the identity registry first, then the reputation
 * registry of it. They are `contracts/test/erc8004/`, compiled before. The deployer may upgrade them.
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
  const behindProxy = async (name: string, args: unknown[]) => {
    const implementation = await deploy(name);
    const { abi } = registryArtifact(name);
    const data = encodeFunctionData({ abi, functionName: "initialize", args });
    return { implementation, proxy: await deploy("Erc8004Proxy", [implementation, data]) };
  };
  const fromBlock = (await client.getBlockNumber()) + 1n;
  const admin = client.account.address;
  const identity = await behindProxy("Erc8004Identity", [admin]);
  const reputation = await behindProxy("Erc8004Reputation", [admin, identity.proxy]);
  return {
    identity: identity.proxy,
    reputation: reputation.proxy,
    identityImplementation: identity.implementation,
    reputationImplementation: reputation.implementation,
    /** The first block that has any of them. */
    fromBlock,
    /** Puts another copy of its code behind a registry, and gives the copy's address. */
    upgrade: async (registry: "identity" | "reputation"): Promise<Address> => {
      const name = registry === "identity" ? "Erc8004Identity" : "Erc8004Reputation";
      const implementation = await deploy(name);
      const address = registry === "identity" ? identity.proxy : reputation.proxy;
      const call = {
        abi: registryArtifact(name).abi,
        functionName: "upgradeToAndCall",
        args: [implementation, "0x"],
      };
      await mined(await client.writeContract({ chain: null, address, ...call } as never));
      return implementation;
    },
  };
}

/** What a contract of `contracts/test/erc8004/` compiled to. */
export function registryArtifact(name: string): { abi: Abi; bytecode: Hex } {
  const file = path.join(repositoryRoot, "artifacts/contracts/test/erc8004", `${name}.sol`, `${name}.json`);
  return JSON.parse(readFileSync(file, "utf8"));
}
