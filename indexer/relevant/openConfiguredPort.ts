import type { IndexerConfig } from "../config.ts";
import { createLogPort } from "../logPort/createLogPort.ts";
import type { LogSourceError } from "../logPort/errors.ts";
import { createHypersyncSource } from "../logPort/hypersync/createHypersyncSource.ts";
import type { BalanceSource, LogPort, SourceRequest } from "../logPort/logPort.ts";
import { createPortalSource } from "../logPort/portal/createPortalSource.ts";
import { createRpcSource } from "../logPort/rpc/createRpcSource.ts";

/**
 * Chains whose nodes report finality. On other chains a block is final after so many blocks, as in Ponder.
 */
const TELL_FINALITY = new Set([1, 8453, 84_532, 11_155_111]);
const FINALITY_BLOCKS = 30;

/** The options of an RPC source for a chain's finality. */
export function finalityOf(chainId: number): { finalityBlocks?: number } {
  return TELL_FINALITY.has(chainId) ? {} : { finalityBlocks: FINALITY_BLOCKS };
}

/** The configured sources of logs. */
export type ConfiguredPort = {
  port: LogPort;
  /**
   * The ports that are asked when `port` seems to be wrong. Each has one source after the first, together with the
   * chain's RPC. The last one has only the RPC.
   */
  others: readonly LogPort[];
  balances: BalanceSource;
};

/**
 * Opens the sources of logs; null where all transfers are indexed.
 *
 * @param told.onRequest called after each request to a source
 */
export function openConfiguredPort(
  { chainId, rpcUrl, token, transfers }: Pick<IndexerConfig, "chainId" | "rpcUrl" | "token" | "transfers">,
  told: {
    onFallback: (failed: LogSourceError, next: string) => void;
    onRequest: (request: SourceRequest) => void;
  },
): ConfiguredPort | null {
  if (transfers.form === "all") return null;
  const { firstBlock, agree } = transfers;
  const { onFallback, onRequest } = told;
  const openRpc = (url: string) =>
    createRpcSource({ url, token, firstBlock, onRequest, ...finalityOf(chainId) });
  const rpc = openRpc(rpcUrl);
  const history = transfers.history.map((source) => {
    if (source.kind === "rpc") return openRpc(source.url);
    const { kind, url, key } = source;
    return kind === "portal"
      ? createPortalSource({ url, token, apiKey: key, onRequest })
      : createHypersyncSource({ url, token, apiToken: key, onRequest });
  });
  return {
    port: createLogPort({ rpc, history, agree, onFallback }),
    others: [
      ...history.slice(1).map((it) => createLogPort({ rpc, history: [it] })),
      ...(history.length > 0 ? [rpc] : []),
    ],
    balances: rpc,
  };
}
