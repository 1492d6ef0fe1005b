import { PUBLIC_CHAINS } from "./publicChains.ts";

/**
 * The warning for an operator that follows a public chain and names no hub; null when there is nothing to warn
 * about.
 */
export function hubsWarning(node: {
  chainId: number;
  params: { hubs: readonly string[]; hubTransfers: number };
}): string | null {
  const { chainId, params } = node;
  if (!PUBLIC_CHAINS.includes(chainId) || params.hubs.length > 0) return null;
  return (
    `HUBS names no exchange, bridge or faucet. Until such a wallet has made or received ${params.hubTransfers} transfers, ` +
    `the wallets that it pays count as one owner's. Name those from which agents here get their money.`
  );
}
