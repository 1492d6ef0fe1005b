import { createHardhatRuntimeEnvironment } from "hardhat/hre";
import { createPublicClient, http } from "viem";
import userConfig from "../../../hardhat.config.ts";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";
import { builtContracts } from "../../../tools/testing/builtContracts.ts";
import { addChaiMatchers } from "../../contracts/support/chaiMatchers.ts";
import type { ForkSettings } from "./forkSettings.ts";

/** Chains of the OP stack. Their blocks contain transactions that a plain EVM does not know. */
const OP_CHAINS = [10, 8_453, 84_532, 11_155_420];

/** Opens an in-memory fork of the given chain, with the same chain id. */
export async function forkChain({ url, blockNumber }: ForkSettings) {
  const chainId = await createPublicClient({ transport: http(url) }).getChainId();
  const chainType = OP_CHAINS.includes(chainId) ? "op" : "l1";
  // The hardfork whose rules Hardhat uses for calls in the forked block. Hardhat needs a hardfork for every chain. Any
  // hardfork that has the opcodes of the contracts is fine.
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
  await builtContracts();
  await addChaiMatchers(hre);
  const connection = await hre.network.create("fork");
  return { ...connection, connection, chainId };
}

export type ForkedChain = Awaited<ReturnType<typeof forkChain>>;
