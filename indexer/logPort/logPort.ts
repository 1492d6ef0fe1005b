import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";

/** How long a call may take. Each takes both, so that nothing here ever waits for ever. */
export type Call = {
  /** Ends the call; it then rejects with the signal's reason. */
  signal: AbortSignal;
  /** Milliseconds, retries included, after which the call rejects with a {@link DeadlineError}. */
  deadlineMs: number;
};

/** A call that may stop early. */
export type LimitedCall = Call & {
  /**
   * So many of each wallet's logs are enough, the first ones: a wallet of which fewer come back has no more. Without it all
   * are read.
   */
  limit?: number;
};

/** Blocks from `from` to `to`, both included, of the chain that is canonical when it is read. */
export type BlockRange = { from: number; to: number };

/** One block, by its hash: the answer is that block's own, whether it is canonical or not. */
export type BlockAt = { block: number; hash: Hex };

export type Place = BlockRange | BlockAt;

/** Where a log stands. Lists are in the order of block, then log. */
export type LogPlace = {
  block: number;
  blockHash: Hex;
  /** Unix seconds of the block; null when the source does not say it with its logs: ask for the header. */
  time: number | null;
  /** The log's index in its block. */
  log: number;
  tx: Hex;
};

/** A `Transfer` of the token. `value` is in atomic units. Addresses are lower case. */
export type TokenTransfer = LogPlace & { from: Address; to: Address; value: bigint };

/** An `AuthorizationUsed` of the token (EIP-3009). */
export type UsedAuthorization = LogPlace & { authorizer: Address; nonce: Hex };

/** What of the token a transaction logged; both lists are empty when it failed. */
export type TransactionLogs = {
  tx: Hex;
  block: number;
  blockHash: Hex;
  transfers: TokenTransfer[];
  authorizations: UsedAuthorization[];
};

/** All that the token logged in one block, each list in the order of the logs. */
export type BlockLogs = { transfers: TokenTransfer[]; authorizations: UsedAuthorization[] };

/** `time` is in Unix seconds. */
export type BlockHeader = { block: number; hash: Hex; parentHash: Hex; time: number };

/**
 * Reads of one token only what is asked for, from its first block on. Whatever comes back was checked for its shape and for being
 * what was asked for; anything else is an error that names source and field. Nothing is dropped without a word.
 *
 * Throws, each naming its source: {@link SourceUnavailableError} (try later or elsewhere), {@link SourceBehindError},
 * {@link OrphanedBlockError} (read the chain again), {@link HistoryMissingError}, {@link SourceRefusedError},
 * {@link BadAnswerError} (use another source), {@link SourcesDisagreeError}, {@link TooManyLogsError}, {@link DeadlineError}.
 */
export type LogPort = {
  /** Its name in errors and metrics. It holds no key. */
  readonly name: string;
  /** Transfers that reached these wallets. A wallet asked for twice counts once. */
  transfersTo(wallets: readonly Address[], place: Place, call: LimitedCall): Promise<TokenTransfer[]>;
  /** Transfers that left these wallets. */
  transfersFrom(wallets: readonly Address[], place: Place, call: LimitedCall): Promise<TokenTransfer[]>;
  /** Authorizations of these wallets that were used. */
  authorizationsBy(
    senders: readonly Address[],
    place: Place,
    call: LimitedCall,
  ): Promise<UsedAuthorization[]>;
  /** What a transaction logged; null when there is none of that hash up to block `asOf`. */
  transactionLogs(hash: Hex, asOf: number, call: Call): Promise<TransactionLogs | null>;
  /** Headers in the order of their numbers. Neighbours among them are linked. */
  headers(blocks: readonly number[], call: Call): Promise<BlockHeader[]>;
  /** All logs of these blocks, by their hashes, in the order of the blocks given. */
  blockLogs(blocks: readonly BlockAt[], call: Call): Promise<BlockLogs[]>;
  /** The last block that no reorganization takes back, as the chain's own RPC tells. */
  finalizedHead(call: Call): Promise<BlockAt>;
};

/** The part of the port that finalized history can be read from. */
export type HistorySource = Pick<LogPort, "name"> & {
  /** The last block that this source can tell and that is final. */
  finalizedHead(call: Call): Promise<BlockAt>;
  /** Logs of a range whose blocks are all final. */
  history(query: LogQuery, range: BlockRange, call: LimitedCall): Promise<HistoryRead>;
};

/** Where balances of the token are read. */
export type BalanceSource = Pick<HistorySource, "name" | "finalizedHead"> & {
  /** Balances in atomic units at one block, in the order of the wallets. */
  balances(wallets: readonly Address[], at: BlockAt, call: Call): Promise<bigint[]>;
};

/** Which logs: of one kind, of these wallets at one place in them. */
export type LogQuery = { kind: LogKind; wallets: readonly Address[] };

export type LogKind = "transfersTo" | "transfersFrom" | "authorizationsBy";

export type TokenLog = TokenTransfer | UsedAuthorization;

/** `end` is the last block that was read: that of the range, or one before it when all wallets had enough. Null: none was. */
export type HistoryRead = { logs: TokenLog[]; end: BlockAt | null };

/** What became of one request, for counting. */
export type SourceRequest = {
  source: string;
  /** `eth_getLogs`, `finalized-stream` …; of a batch, that of its first call. */
  method: string;
  outcome: RequestOutcome;
};

/**
 * `ok`; `refused`: asked for too much, asked again for less; `limited`: too often; `failed`: no whole answer; `stale`: from a node that
 * lacks the block or the history.
 */
export type RequestOutcome = "ok" | "refused" | "limited" | "failed" | "stale";
