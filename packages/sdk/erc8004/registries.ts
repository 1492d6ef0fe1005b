import type { Registries } from "tallystick-protocol/erc8004/registries";
import { reputationRegistryAbi } from "tallystick-protocol/erc8004/reputationRegistryAbi";
import { type Chain, isAddressEqual, type PublicClient, type Transport } from "viem";
import { ChainError } from "../errors.ts";

/** ERC-8004's registries on a chain. They have no events before `fromBlock`. */
export type ChainRegistries = Registries & { chainId: number; fromBlock: bigint };

/** A viem client of any chain. */
export type ChainReader = PublicClient<Transport, Chain | undefined>;

/**
 * Checks that the RPC leads to the registries' chain, and that the reputation registry there names this
 * identity registry.
 *
 * @throws ChainError `wrong_chain`, `no_registry`
 */
export async function requireRegistries(client: ChainReader, registries: ChainRegistries): Promise<void> {
  const { chainId, identity, reputation } = registries;
  const found = await client.getChainId();
  if (found !== chainId) {
    throw new ChainError({
      code: "wrong_chain",
      message: `The RPC leads to chain ${found}, and the registries are on chain ${chainId}.`,
      hint: "Nothing was sent. Name an RPC of that chain (--rpc-url).",
      neverSent: true,
    });
  }
  const its = await client
    .readContract({ address: reputation, abi: reputationRegistryAbi, functionName: "getIdentityRegistry" })
    .catch(() => undefined);
  if (its !== undefined && isAddressEqual(its, identity)) return;
  throw new ChainError({
    code: "no_registry",
    message: `${reputation} is no reputation registry of ${identity} on chain ${chainId}.`,
    hint: "Nothing was sent. Name the registries (--registries).",
    neverSent: true,
  });
}
