import type { Address } from "tallystick-protocol/address";
import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { type DeriveEvent, isPast, type LogForm, type ParamsEvent, type PastEvent } from "./events.ts";
import { parseEvent } from "./parseEvent.ts";

/**
 * Reads an event log line by line. It refuses a log that is certainly incomplete or wrong: lines out of order, or
 * missing data that figures depend on. A faulty log would give wrong figures, so every doubt ends the reading.
 */
export class LogReader {
  #line = 0;
  #last: OrderedEvent | undefined;
  #form: LogForm = "all";
  /** The latest position in the lines about the past that came since the last other event. */
  #past: { line: number; block: number; log: number; time: number } | undefined;
  #token: Address | undefined;
  #firstBlock = 0;

  /** @param token the token of the log, for a log whose first line does not name it */
  constructor(token?: Address) {
    this.#token = token;
  }

  /** The number of the line that was read last. */
  get line(): number {
    return this.#line;
  }

  /**
   * @param text the next line
   * @returns the event, or undefined for an empty line
   * @throws TallystickError naming the line and what is wrong with it
   */
  read(text: string): DeriveEvent | undefined {
    const line = ++this.#line;
    if (text.trim() === "") return undefined;
    const event = parseLine(text, line);
    const last = this.#last;
    if (isPast(event)) {
      this.#checkTransfer(event);
      this.#takePast(event);
      return event;
    }
    if (event.kind === "params") {
      if (last !== undefined) throw notFirst(line);
      this.#takeToken(event);
      this.#form = event.form ?? "all";
    }
    if (last !== undefined) {
      if (!isBefore(last, event)) throw outOfOrder(line);
      if (event.time < last.time) throw timeRunsBack(line, last.time, event.time);
    }
    this.#checkPast(event);
    this.#checkTransfer(event);
    this.#last = event;
    return event;
  }

  /** Notes a line about the past. Its position is earlier than its place in the log. */
  #takePast({ kind, block, log, time: ownTime }: PastEvent): void {
    if (this.#form === "all") throw pastInAll(this.#line, kind);
    const past = this.#past;
    const time = Math.max(ownTime, past?.time ?? 0);
    const isLatest = past === undefined || past.block < block || (past.block === block && past.log < log);
    this.#past = isLatest ? { line: this.#line, block, log, time } : { ...past, time };
  }

  /** A line about the past must be earlier than the event that needs it. */
  #checkPast(event: OrderedEvent): void {
    const past = this.#past;
    if (past === undefined) return;
    if (past.block > event.block || (past.block === event.block && past.log >= logOf(event))) {
      throw pastTooLate(past.line, this.#line);
    }
    if (event.time < past.time) throw timeRunsBack(this.#line, past.time, event.time);
    this.#past = undefined;
  }

  #checkTransfer(event: DeriveEvent): void {
    const { kind, block } = event;
    if (kind !== "transfer" && kind !== "history" && kind !== "count") return;
    if (this.#token === undefined) throw unknownToken(this.#line);
    const isOfToken = kind === "count" || event.token === this.#token;
    if (isOfToken && block < this.#firstBlock) throw beforeFirstBlock(this.#line, block, this.#firstBlock);
  }

  /** The token of the log, as far as it is known. */
  get token(): Address | undefined {
    return this.#token;
  }

  /** @throws TallystickError when the log is empty, because then the program that wrote it has failed */
  finish(): void {
    if (this.#last === undefined) {
      throw new TallystickError({
        code: "empty_log",
        message: "The log has no events.",
        hint: "Even a node without events writes a first line. Check how the log was written.",
      });
    }
  }

  #takeToken({ token }: ParamsEvent): void {
    if (token === undefined) return;
    if (this.#token !== undefined && this.#token !== token.address) {
      throw new TallystickError({
        code: "other_token",
        message: `The log is about the token ${token.address}, not about ${this.#token}.`,
        hint: "Leave --token out: it is for logs whose first line names no token.",
      });
    }
    this.#token = token.address;
    this.#firstBlock = token.firstBlock;
  }
}

/** An event that stands at its own position in the log. Lines about the past do not. */
type OrderedEvent = Exclude<DeriveEvent, PastEvent>;

function parseLine(text: string, line: number): DeriveEvent {
  try {
    return parseEvent(text);
  } catch (cause) {
    if (!(cause instanceof InvalidInputError)) throw cause;
    const [issue] = cause.issues;
    throw new TallystickError({
      code: "invalid_event",
      message: `Line ${line} is not an event: ${[issue?.field, issue?.message].filter(Boolean).join(" ")}.`,
      hint: "An event log is what `tallystick export` writes: one JSON object on each line. If this is the last line, the log was cut off.",
      cause,
    });
  }
}

/** The order is block, log, seq. A block's tick is its last event. */
function isBefore(a: OrderedEvent, b: OrderedEvent): boolean {
  if (a.block !== b.block) return a.block < b.block;
  const [logA, logB] = [logOf(a), logOf(b)];
  if (logA !== logB) return logA < logB;
  if (a.kind === "record" && b.kind === "record") return a.seq < b.seq;
  // The parameters at the start of a log share the position of the next event.
  return a.kind === "params" && b.kind !== "params";
}

function logOf(event: OrderedEvent): number {
  return event.kind === "tick" ? Number.POSITIVE_INFINITY : event.log;
}

function notFirst(line: number): TallystickError {
  return new TallystickError({
    code: "params_not_first",
    message: `Line ${line} has the parameters of a log. Only the first line may have them.`,
    hint: "Do not put two logs together. Later parameters are records of a ledger, signed by the operator.",
  });
}

function outOfOrder(line: number): TallystickError {
  return new TallystickError({
    code: "events_out_of_order",
    message: `Line ${line} is not after the line above it.`,
    hint: "Events must be in the order of block, log and seq. The tick of a block comes last.",
  });
}

function pastInAll(line: number, kind: string): TallystickError {
  return new TallystickError({
    code: "history_in_all",
    message: `Line ${line} is of kind ${kind}. A log of all transfers has no such line.`,
    hint: "The first line says that the log has all transfers. The first line of a log with only relevant transfers has form: relevant.",
  });
}

function pastTooLate(line: number, event: number): TallystickError {
  return new TallystickError({
    code: "history_too_late",
    message: `Line ${line} is about the past of line ${event}, but its position is not before that line.`,
    hint: "Lines of the kinds history and count come right before the event that needs them, and have earlier positions.",
  });
}

function timeRunsBack(line: number, before: number, after: number): TallystickError {
  return new TallystickError({
    code: "time_runs_back",
    message: `Line ${line} has the time ${after}, which is before the time of the line above it, ${before}.`,
    hint: "The time of an event is the time of its block. No block is older than the one before it.",
  });
}

function unknownToken(line: number): TallystickError {
  return new TallystickError({
    code: "token_unknown",
    message: `Line ${line} is about a transfer, and nothing says which token the log is about.`,
    hint: "The first line of an exported log names the token. For a log without one: --token 0x…",
  });
}

function beforeFirstBlock(line: number, block: number, first: number): TallystickError {
  return new TallystickError({
    code: "transfer_before_first_block",
    message: `Line ${line} is of block ${block}, but by its first line the log begins with block ${first}.`,
    hint: "The log was edited, or put together from two; export it again.",
  });
}
