import { createHardhatRuntimeEnvironment } from "hardhat/hre";
import { createPublicClient, http } from "viem";
import userConfig from "../../../hardhat.config.ts";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";
import { addChaiMatchers } from "../../contracts/support/chaiMatchers.ts";
import type { ForkSettings } from "./forkSettings.ts";

/** Chains of the OP stack, whose blocks carry transactions that a plain EVM does not know. */
const OP_CHAINS = [10, 8_453, 84_532, 11_155_420];

/** Opens an in-memory chain that begins at the head of the given one, with the same chain id. */
export async function forkChain({ url, blockNumber }: ForkSettings) {
  const chainId = await createPublicClient({ transport: http(url) }).getChainId();
  const chainType = OP_CHAINS.includes(chainId) ? "op" : "l1";
  // Gives the rules by which Hardhat executes calls in the forked block. Hardhat must know them for every chain. Any
  // rules with the opcodes of the contracts are fine.
  const rules = chainType === "op" ? "isthmus" : "cancun";
  const descriptor = { name: "forked", chainType, hardforkHistory: { [rules]: { blockNumber: 0 } } } as const;
  const hre = await createHardhatRuntimeEnvironment(
    {
      ...userConfig,
      chainDescriptors: { [chainId]: descriptor },
      networks: {
        fork: {
          type: "edr-simulated",
          chainType,
          chainId,
          forking: { url, ...(blockNumber !== undefined && { blockNumber }) },
        },
      },
    },
    {},
    repositoryRoot,
  );
  await hre.tasks.getTask("build").run({ quiet: true });
  await addChaiMatchers(hre);
  const connection = await hre.network.create("fork");
  return { ...connection, connection, chainId };
}

export type ForkedChain = Awaited<ReturnType<typeof forkChain>>;
