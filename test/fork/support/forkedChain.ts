import { createHardhatRuntimeEnvironment } from "hardhat/hre";
import { createPublicClient, http } from "viem";
import userConfig from "../../../hardhat.config.ts";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";
import type { ForkSettings } from "./forkSettings.ts";

/** Chains of the OP stack, whose blocks carry transactions that a plain EVM does not know. */
const OP_CHAINS = [10, 8_453, 84_532, 11_155_420];

/** Chains whose hardforks Hardhat knows by itself. Of any other, only that it has cancun, which the contracts need. */
const KNOWN_CHAINS = [1, 560_048, 11_155_111, ...OP_CHAINS];

/** Opens an in-memory chain that begins where the given one stands, under the same chain id. */
export async function forkChain({ url, blockNumber }: ForkSettings) {
  const chainId = await createPublicClient({ transport: http(url) }).getChainId();
  const chainType = OP_CHAINS.includes(chainId) ? "op" : "l1";
  const descriptor = { name: "forked", chainType, hardforkHistory: { cancun: { blockNumber: 0 } } } as const;
  const hre = await createHardhatRuntimeEnvironment(
    {
      ...userConfig,
      ...(!KNOWN_CHAINS.includes(chainId) && { chainDescriptors: { [chainId]: descriptor } }),
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
  const connection = await hre.network.create("fork");
  return { ...connection, connection, chainId };
}

export type ForkedChain = Awaited<ReturnType<typeof forkChain>>;
