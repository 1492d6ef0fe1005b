import type { IndexerConfig } from "../config.ts";
import { createLogPort } from "../logPort/createLogPort.ts";
import type { LogSourceError } from "../logPort/errors.ts";
import type { LogPort } from "../logPort/logPort.ts";
import { createPortalSource } from "../logPort/portal/createPortalSource.ts";
import { createRpcSource } from "../logPort/rpc/createRpcSource.ts";

/** Chains whose nodes tell themselves what is final; of others that are so many blocks, as Ponder counts. */
const TELL_FINALITY = new Set([1, 8453, 84_532, 11_155_111]);
const FINALITY_BLOCKS = 30;

/** Opens the sources of logs that are configured; null where all transfers are indexed. */
export function openConfiguredPort(
  { chainId, rpcUrl, token, transfers }: IndexerConfig,
  onFallback?: (failed: LogSourceError, next: string) => void,
): LogPort | null {
  if (transfers.form === "all") return null;
  const { firstBlock, history, agree } = transfers;
  const finality = TELL_FINALITY.has(chainId) ? {} : { finalityBlocks: FINALITY_BLOCKS };
  const openRpc = (url: string) => createRpcSource({ url, token, firstBlock, ...finality });
  return createLogPort({
    rpc: openRpc(rpcUrl),
    history: history.map(({ kind, url }) =>
      kind === "portal" ? createPortalSource({ url, token }) : openRpc(url),
    ),
    agree,
    ...(onFallback && { onFallback }),
  });
}
