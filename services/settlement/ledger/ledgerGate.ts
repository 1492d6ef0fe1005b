import { TallystickError } from "tallystick-protocol/errors";
import { asOurOwn } from "tallystick-runtime/http/requestScope";
import type { Log } from "tallystick-runtime/stderrLog";

/**
 * The parts that can close the gate: a changed line or index, the chain's answer, an earlier signature, a
 * witness, another copy of the log, the ledger's guardian, the shared store, an index that the disk refuses,
 * lines that are not read yet, the clock.
 */
export type GatePart =
  | "changed"
  | "chain"
  | "signed"
  | "witness"
  | "copy"
  | "halt"
  | "store"
  | "index"
  | "unread"
  | "clock";

const PARTS: readonly GatePart[] = [
  "changed",
  "chain",
  "signed",
  "witness",
  "copy",
  "halt",
  "store",
  "index",
  "unread",
  "clock",
];

/** The parts that also stop signatures, because the content of the ledger is in doubt. */
const SIGNING: readonly GatePart[] = ["chain", "signed", "witness", "copy", "changed"];

/** The parts that close for a reason of this machine. Another machine with the same ledger may be able to write. */
const OF_THIS_MACHINE: readonly GatePart[] = ["changed", "index", "clock"];

/** The time in seconds after which a refused caller should ask again. The answer names it. */
const RETRY_AFTER = "5";

/**
 * Whether the ledger may be written and signed. Reads always continue. Each part closes and opens separately.
 * The first reason in the order of {@link GatePart} is reported.
 */
export class LedgerGate {
  readonly #log: Log;
  readonly #closed = new Map<GatePart, TallystickError>();
  readonly #listeners = new Set<() => void>();
  readonly #looks: (() => void)[] = [];
  #hasSaid = false;
  #silence: TallystickError | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Closes a part. The reason has a code and says what to do. A new reason is logged, unless `quietly`. */
  close(part: GatePart, reason: TallystickError, { quietly = false } = {}): void {
    const before = this.#closed.get(part);
    this.#closed.set(part, reason);
    if (before?.code === reason.code || quietly) return;
    this.#hasSaid = true;
    const sentence = SIGNING.includes(part) ? "Writes and checkpoints are refused." : "Writes are refused.";
    this.#log(sentence, { code: reason.code, reason: reason.message, hint: reason.hint, ...causeOf(reason) });
    this.#tell();
  }

  /** Opens a part. */
  open(part: GatePart): void {
    if (!this.#closed.delete(part) || this.#closed.size > 0) return;
    if (this.#hasSaid) this.#log("Writes and checkpoints are accepted again.");
    this.#hasSaid = false;
    this.#tell();
  }

  #tell(): void {
    // A request may have started this, but the consequences do not belong to it.
    asOurOwn(() => {
      for (const listener of this.#listeners) listener();
    });
  }

  /** Calls back when a part closes for a new reason and not quietly, and when the last closed part has opened. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Adds a check that runs before every answer about writes. */
  onAsk(look: () => void): void {
    this.#looks.push(look);
  }

  /** Why nothing can be written now; undefined when it can. */
  get refusal(): TallystickError | undefined {
    for (const look of this.#looks) look();
    for (const part of PARTS) if (this.#closed.has(part)) return this.#closed.get(part);
    return undefined;
  }

  /**
   * Why this machine cannot write although another machine with the same ledger may be able to. Undefined when this
   * machine can write, or when all machines would refuse.
   */
  get ownRefusal(): TallystickError | undefined {
    const { refusal } = this;
    for (const [part, { code }] of this.#closed) {
      if (!OF_THIS_MACHINE.includes(part) && code !== "chain_unknown") return undefined;
    }
    return refusal;
  }

  /** Notes why the chain does not answer, while this machine writes; undefined once the chain answers. */
  noteSilence(reason: TallystickError | undefined): void {
    this.#silence = reason;
  }

  /** Why nothing can be anchored here although entries can be written. Another machine may reach the chain. */
  get silence(): TallystickError | undefined {
    return this.#silence;
  }

  /** @throws TallystickError with status 503 while nothing may be written */
  requireWrites(): void {
    const { refusal } = this;
    if (refusal) throw asAnswer(refusal);
  }

  /** @throws TallystickError with status 503 while this part is closed */
  requirePart(part: GatePart): void {
    for (const look of this.#looks) look();
    const reason = this.#closed.get(part);
    if (reason) throw asAnswer(reason);
  }

  /** Whether the ledger may be signed. */
  get maySign(): boolean {
    return !SIGNING.some((part) => this.#closed.has(part));
  }

  /** @throws TallystickError with status 503 while nothing may be signed. Then no checkpoint is given out */
  requireSignatures(): void {
    const part = SIGNING.find((one) => this.#closed.has(one));
    if (part) throw asAnswer(this.#closed.get(part) as TallystickError);
  }
}

/** The cause of a reason, for the log only. */
export function causeOf({ cause }: TallystickError): { cause?: unknown } {
  return cause === undefined ? {} : { cause };
}

function asAnswer({ code, message, hint }: TallystickError): TallystickError {
  const details = { headers: { "retry-after": RETRY_AFTER } };
  return new TallystickError({ code, message, ...(hint !== undefined && { hint }), details });
}
