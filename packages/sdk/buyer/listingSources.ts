import type { PublicClient } from "viem";
import { type AskWallet, walletAsker } from "../chain/askWallet.ts";
import type { QueryClient } from "../query/createQueryClient.ts";
import type { Fetch } from "../requestService.ts";

/** Who is asked for the signed form of a listing, and for the answer of a seller's contract wallet. */
export type ListingSources = {
  /** The record in the ledger entry with this hash, as the node gives it. */
  fromNode: (entryHash: string) => Promise<unknown>;
  /** Reaches sellers. */
  sellerFetch: Fetch;
  devMode: boolean;
  /** Asks a contract wallet about a signature (ERC-1271); absent without a chain. */
  askWallet?: AskWallet | undefined;
};

/** @param parameters.client reads the chain; without it no listing of a contract wallet is proved */
export function listingSources(parameters: {
  node: Pick<QueryClient, "graphql">;
  sellerFetch: Fetch;
  devMode: boolean;
  client?: PublicClient | undefined;
}): ListingSources {
  const { node, sellerFetch, devMode, client } = parameters;
  return {
    fromNode: async (hash) => (await node.graphql.signedRecord({ hash })).ledgerEntryByHash?.record,
    sellerFetch,
    devMode,
    askWallet: client && walletAsker(client),
  };
}
