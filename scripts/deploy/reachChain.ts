import { TallystickError } from "tallystick-protocol/errors";
import { rpcTransport } from "tallystick-sdk/net/rpcTransport";
import { createPublicClient, type PublicClient } from "viem";
import { networks } from "./networks.ts";
import { shownUrl } from "./shownUrl.ts";

/**
 * Finds the chain of a command and checks that its RPC answers.
 *
 * @param fallback the RPC's URL if the options name none
 * @throws TallystickError `no_chain`, `rpc_unreachable`, `wrong_chain`
 */
export async function reachChain(
  options: { network?: string; rpcUrl?: string },
  fallback: string | undefined,
): Promise<{ rpcUrl: string; client: PublicClient; chainId: number }> {
  const known = options.network === undefined ? undefined : networks[options.network];
  const rpcUrl = options.rpcUrl ?? known?.rpcUrl ?? fallback ?? "";
  if (rpcUrl === "") {
    throw new TallystickError({
      code: "no_chain",
      message: "No chain is named.",
      hint: `Give --network (${Object.keys(networks).join(", ")}) or --rpc-url.`,
    });
  }
  const client = createPublicClient({ transport: rpcTransport(rpcUrl, { retryCount: 1 }) });
  const chainId = await client.getChainId().catch((cause: unknown) => {
    throw new TallystickError({
      code: "rpc_unreachable",
      message: `The chain at ${shownUrl(rpcUrl)} does not answer.`,
      hint: "Check the URL; a local chain starts by: npx hardhat node --hostname 127.0.0.1",
      cause,
    });
  });
  if (known && known.chainId !== chainId) {
    throw new TallystickError({
      code: "wrong_chain",
      message: `${shownUrl(rpcUrl)} is chain ${chainId}, but ${options.network} is chain ${known.chainId}.`,
      hint: "Leave out --network, or correct --rpc-url.",
    });
  }
  return { rpcUrl, client, chainId };
}
