/** The `error` of a JSON-RPC answer. */
export type RpcFault = { code: number; message: string };

/**
 * The meaning of a node's error:
 *
 * - `range`: more blocks in one request than the node ever allows
 * - `size`: too many logs or bytes, or too much work, for these blocks
 * - `wallets`: too many topics
 * - `rate`: too many requests
 * - `behind`: the node does not have these blocks yet
 * - `unknownBlock`: the node has no block with this hash
 * - `history`: the node does not have these blocks any more
 * - `other`: an error that we do not know
 */
export type Refusal = "range" | "size" | "wallets" | "rate" | "behind" | "unknownBlock" | "history" | "other";

/**
 * Every provider uses its own words, and often one code for several causes. So the words decide. The first pattern that
 * fits counts, because a refusal because of the size may also mention a range. The words are from these providers and
 * nodes, each with what it limits:
 *
 * - Alchemy: -32602 by size, with a range that would work; -32600 by blocks, on its free plan
 * - Infura: -32005 by results, by time and for the daily count; -32602 by blocks (issue 237 of INFURA/infura)
 * - QuickNode: -32614 under HTTP 413
 * - Ankr and publicnode: -32600 and -32701, by blocks
 * - Base's own endpoint: -32020 by size
 * - dRPC and 1RPC: by blocks
 * - go-ethereum: topics for one position; 4444 for history (EIP-4444); -32602 beyond the head (ethereum/execution-apis)
 * - reth (`rpc-eth-types`): by blocks and by results, also under -32602
 * - Erigon: `--rpc.blockrange.limit`, `--rpc.logs.maxresults` (pull requests 18798 and 19721)
 * - Nethermind: receipts not available (issue 12089)
 */
const REFUSALS: readonly (readonly [Exclude<Refusal, "other">, RegExp])[] = [
  [
    "rate",
    /rate.?limit|too many requests|compute units|request (count|rate)|requests per|throughput|throttl/,
  ],
  [
    "history",
    /pruned|history (is )?(un|not )available|missing trie|before .*not available|archive|receipts? not available/,
  ],
  ["behind", /beyond .*head|not yet (imported|available)|future block/],
  ["unknownBlock", /unknown block|header not found|block (meta )?not found|block .*could not be found/],
  ["wallets", /topics|addresses.* per|too many (addresses|param)|maximum .*param/],
  [
    "size",
    /(than|limit of) [\d,]+ (results|logs)|max(imum)? results|response.*(size|large|big|exceed|greater|logs)|too (large|big) (result|respons)|too many (logs|results)|result set|query timeout|timed out|10k logs/,
  ],
  ["range", /range|too many blocks|blocks? distance|[\d,]+ blocks/],
];

/** Codes with only one meaning: the one of EIP-4444, and HTTP's code for too many requests. */
const CODES: ReadonlyMap<number, Refusal> = new Map([
  [4444, "history"],
  [429, "rate"],
]);

export function refusalOf({ code, message }: RpcFault): Refusal {
  const known = CODES.get(code);
  if (known !== undefined) return known;
  const text = message.toLowerCase();
  return REFUSALS.find(([, pattern]) => pattern.test(text))?.[0] ?? "other";
}
