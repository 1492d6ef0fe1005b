import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";

/** The limits of a call. Every call has both, so that no call waits forever. */
export type Call = {
  /** Ends the call. The call then rejects with the signal's reason. */
  signal: AbortSignal;
  /** Milliseconds, retries included, after which the call rejects with a {@link DeadlineError}. */
  deadlineMs: number;
};

/** A call that may stop early. */
export type LimitedCall = Call & {
  /**
   * The number of logs of each wallet that are needed, from the first on. A wallet with fewer logs in the
   * answer has no more. Without it all logs are read.
   */
  limit?: number;
};

/** Blocks from `from` to `to`, both included, of the chain that is canonical when it is read. */
export type BlockRange = { from: number; to: number };

/** One block by its hash. The answer is about exactly this block, even if it is not canonical. */
export type BlockAt = { block: number; hash: Hex };

export type Place = BlockRange | BlockAt;

/** The place of a log in the chain. Lists are sorted by block, then by log. */
export type LogPlace = {
  block: number;
  blockHash: Hex;
  /**
   * The block's time in unix seconds; null if the source does not give it with its logs. Then read the
   * header.
   */
  time: number | null;
  /** The log's index in its block. */
  log: number;
  tx: Hex;
};

/** A `Transfer` of the token. `value` is in atomic units. Addresses are lower case. */
export type TokenTransfer = LogPlace & { from: Address; to: Address; value: bigint };

/** An `AuthorizationUsed` of the token (EIP-3009). */
export type UsedAuthorization = LogPlace & { authorizer: Address; nonce: Hex };

/** The token's logs in a transaction. Both lists are empty if the transaction failed. */
export type TransactionLogs = {
  tx: Hex;
  block: number;
  blockHash: Hex;
  transfers: TokenTransfer[];
  authorizations: UsedAuthorization[];
};

/** The token's logs in one block. Each list is in the order of the logs. */
export type BlockLogs = { transfers: TokenTransfer[]; authorizations: UsedAuthorization[] };

/** `time` is in Unix seconds. */
export type BlockHeader = { block: number; hash: Hex; parentHash: Hex; time: number };

/**
 * Reads the logs of one token, from its first block on, and only those that are asked for. Every answer is
 * checked for its shape and against the request. A wrong answer is an error that names the source and the
 * field. Nothing is dropped silently.
 *
 * Throws, each naming its source: {@link SourceUnavailableError} (try later or elsewhere), {@link SourceBehindError},
 * {@link ProofMissingError}, {@link OrphanedBlockError} (read the chain again), {@link HistoryMissingError},
 * {@link SourceRefusedError}, {@link BadAnswerError} (use another source), {@link SourcesDisagreeError},
 * {@link TooManyLogsError}, {@link DeadlineError}.
 */
export type LogPort = {
  /** Its name in errors and metrics. The name contains no key. */
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
  /** The token's logs in a transaction; null if no transaction has that hash up to block `asOf`. */
  transactionLogs(hash: Hex, asOf: number, call: Call): Promise<TransactionLogs | null>;
  /** Headers in the order of their numbers. Adjacent headers are linked by their hashes. */
  headers(blocks: readonly number[], call: Call): Promise<BlockHeader[]>;
  /** All logs of these blocks, by their hashes, in the order of the blocks given. */
  blockLogs(blocks: readonly BlockAt[], call: Call): Promise<BlockLogs[]>;
  /** The last final block, by the chain's own RPC. */
  finalizedHead(call: Call): Promise<BlockAt>;
};

/** A source of final history. It has only a part of the port. */
export type HistorySource = Pick<LogPort, "name"> & {
  /** The last final block that this source has. */
  finalizedHead(call: Call): Promise<BlockAt>;
  /** Logs of a range whose blocks are all final. */
  history(query: LogQuery, range: BlockRange, call: LimitedCall): Promise<HistoryRead>;
};

/** A source of the token's balances. */
export type BalanceSource = Pick<HistorySource, "name" | "finalizedHead"> & {
  /** Balances in atomic units at one block, in the order of the wallets. */
  balances(wallets: readonly Address[], at: BlockAt, call: Call): Promise<bigint[]>;
};

/** Asks for logs of one kind that have one of these wallets in the same field. */
export type LogQuery = { kind: LogKind; wallets: readonly Address[] };

export type LogKind = "transfersTo" | "transfersFrom" | "authorizationsBy";

export type TokenLog = TokenTransfer | UsedAuthorization;

/**
 * `end` is the last block that was read: the end of the range, or an earlier block if all wallets had enough
 * logs. Null: no block was read.
 */
export type HistoryRead = { logs: TokenLog[]; end: BlockAt | null };

/** The outcome of one request, for metrics. */
export type SourceRequest = {
  source: string;
  /** `eth_getLogs`, `finalized-stream` …; for a batch, the method of its first call. */
  method: string;
  outcome: RequestOutcome;
};

/**
 * `ok`; `refused`: the request was too large and is repeated in smaller parts; `limited`: too many requests;
 * `failed`: no complete answer; `stale`: the node lacks the block or the history.
 */
export type RequestOutcome = "ok" | "refused" | "limited" | "failed" | "stale";
