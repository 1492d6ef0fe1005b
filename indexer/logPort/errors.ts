import { TallystickError } from "tallystick-protocol/errors";
import type { Hex } from "tallystick-protocol/hex";

type Parameters = {
  source: string;
  code: string;
  message: string;
  hint: string;
  /** The message without the words of the source. Absent: the message has none. */
  ownWords?: string;
  field?: string;
  details?: unknown;
  cause?: unknown;
};

/**
 * The parent class of all errors of log sources. The message names the source; the name contains no key. The message may
 * quote what the source said, and `ownWords` never does.
 */
export class LogSourceError extends TallystickError {
  readonly source: string;
  readonly ownWords: string;

  constructor({ source, message, ownWords = message, ...rest }: Parameters) {
    super({ ...rest, message: `${source}: ${message}` });
    this.source = source;
    this.ownWords = `${source}: ${ownWords}`;
  }
}

/** The number with which a source answered: a status of HTTP, or the code of a JSON-RPC error. */
export type AnsweredWith = { status: number } | { error: number } | undefined;

function withNumber(words: string, answered: AnsweredWith): string {
  if (answered === undefined) return words;
  const [[what, number]] = Object.entries(answered) as [[string, number]];
  return `${words}: ${what} ${number}`;
}

/** No complete answer came, even after all retries. */
export class SourceUnavailableError extends LogSourceError {
  constructor(source: string, message: string, cause?: unknown, answered?: AnsweredWith) {
    super({
      source,
      code: "source_unavailable",
      message,
      ownWords: withNumber("it gives no complete answer", answered),
      hint: "Wait, or read from another source.",
      cause,
    });
  }
}

/** The time for the call is over. */
export class DeadlineError extends LogSourceError {
  constructor(source: string, milliseconds: number) {
    super({
      source,
      code: "source_deadline",
      message: `it did not answer within ${milliseconds} ms, all retries included`,
      hint: "Ask for a shorter range or give more time.",
    });
  }
}

/** The source refuses the request, and would refuse it again. */
export class SourceRefusedError extends LogSourceError {
  constructor(source: string, message: string, answered?: AnsweredWith) {
    super({
      source,
      code: "source_refused",
      message,
      ownWords: withNumber("it refuses the request", answered),
      hint: "Check its address, key and plan, or use another source.",
    });
  }
}

/** The source gave an impossible answer: it has another shape, or is not what was asked for. */
export class BadAnswerError extends LogSourceError {
  constructor(source: string, field: string, message: string) {
    super({
      source,
      code: "source_bad_answer",
      message: `${field} ${message}`,
      ownWords: `${field} of its answer is not what it must be`,
      field,
      hint: "Do not read from this source until its operator has found out why.",
    });
  }
}

/** The source does not have a block that must exist. */
export class SourceBehindError extends LogSourceError {
  constructor(source: string, block: number) {
    super({
      source,
      code: "source_behind",
      message: `it has no block ${block} yet, so its answers up to there cannot be trusted`,
      hint: "Wait, or read from another source.",
      details: { block },
    });
  }
}

/** The source has the header of a block, but does not give the logs that belong to it. */
export class LogsMissingError extends LogSourceError {
  constructor(source: string, block: number) {
    super({
      source,
      code: "source_logs_missing",
      message: `its logs of block ${block} are fewer than the block's header shows`,
      hint: "Wait until it has stored the whole block, or read from another source.",
      details: { block },
    });
  }
}

/** Nothing shows whether the source gave all logs of a block. */
export class ProofMissingError extends LogSourceError {
  constructor(source: string, block: number, reasons: string) {
    super({
      source,
      code: "source_proof_missing",
      message: `it gives no proof of the logs of block ${block}: ${reasons}`,
      ownWords: `it gives no proof of the logs of block ${block}`,
      hint: "Wait, or use an RPC that answers eth_getLogs without an address, or a method for receipts.",
      details: { block },
    });
  }
}

/** The source no longer has the old logs of the chain. */
export class HistoryMissingError extends LogSourceError {
  constructor(source: string, block: number, what: string) {
    super({
      source,
      code: "source_history_missing",
      message: `it does not keep the history back to block ${block}: ${what}`,
      ownWords: `it does not keep the history back to block ${block}`,
      hint: "Use an archive node or an indexed source for the history.",
      details: { block },
    });
  }
}

/** The requested block is no longer on the chain, or two reads came from different chains. */
export class OrphanedBlockError extends LogSourceError {
  constructor(source: string, block: number, hash: Hex) {
    super({
      source,
      code: "source_orphaned_block",
      message: `block ${block} with hash ${hash} is not on its chain`,
      hint: "Read the chain again from a block that is on it.",
      details: { block, hash },
    });
  }
}

/** More logs than one call may hold in memory. */
export class TooManyLogsError extends LogSourceError {
  constructor(source: string, most: number) {
    super({
      source,
      code: "too_many_logs",
      message: `there are more than ${most} logs`,
      hint: "Ask for a shorter range or fewer wallets, or give a limit for each wallet.",
      details: { most },
    });
  }
}

/** Two sources that must agree gave different answers. */
export class SourcesDisagreeError extends LogSourceError {
  readonly other: string;

  constructor(source: string, other: string, message: string, details: unknown) {
    super({
      source,
      code: "sources_disagree",
      message: `it and ${other} differ: ${message}`,
      hint: "One of them is wrong. Compare both with a node of your own before going on.",
      details,
    });
    this.other = other;
  }
}
