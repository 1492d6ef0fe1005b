import { TallystickError } from "tallystick-protocol/errors";
import { asOurOwn } from "tallystick-runtime/http/requestScope";
import type { Log } from "tallystick-runtime/stderrLog";
import type { DiskLedger } from "../ledger/diskLedger.ts";
import type { LedgerGate } from "../ledger/ledgerGate.ts";
import type { LedgerIndex } from "./ledgerIndex.ts";

/** How long to wait before an index that the disk refused is written again, in milliseconds. */
const RETRY_MS = 1_000;

/**
 * Completes the index again after the disk refused to write it. Until then the gate keeps out all writes to the ledger.
 * Some errors never end by themselves, so each new error is logged once.
 */
export class IndexRetry {
  readonly #gate: LedgerGate;
  readonly #log: Log;
  /** The errors that were logged since the index was last complete. */
  readonly #said = new Set<string>();
  #isStopped = false;
  #attached: { index: LedgerIndex; ledger: DiskLedger } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #catchingUp: Promise<void> = Promise.resolve();

  constructor(gate: LedgerGate, log: Log) {
    this.#gate = gate;
    this.#log = log;
  }

  /** Takes the index and the ledger, once the ledger is open. */
  attach(index: LedgerIndex, ledger: DiskLedger): void {
    this.#attached = { index, ledger };
  }

  /** Call this when the disk has refused to write the index. */
  refused(error: TallystickError): void {
    // The gate logs this reason.
    this.#said.add(textOf(error));
    this.#gate.close("index", error);
    this.#tryLater();
  }

  #tryLater(): void {
    clearTimeout(this.#timer);
    if (this.#isStopped) return;
    asOurOwn(() => {
      this.#timer = setTimeout(() => {
        this.#catchingUp = this.#catchUp();
      }, RETRY_MS);
    });
    this.#timer?.unref();
  }

  async #catchUp(): Promise<void> {
    if (!this.#attached) return;
    const { index, ledger } = this.#attached;
    let error: unknown;
    try {
      if (await index.catchUp((at) => ledger.entry(at))) {
        this.#said.clear();
        this.#gate.open("index");
        return;
      }
      error = index.behind;
    } catch (cause) {
      // One failed read of the ledger must not end the attempts. Then nothing could be written any more.
      error = cause;
    }
    if (error !== undefined) this.#say(error);
    this.#tryLater();
  }

  #say(error: unknown): void {
    if (this.#said.has(textOf(error))) return;
    this.#said.add(textOf(error));
    const { code = "unknown", message } = error as { code?: string; message?: string };
    const hint =
      error instanceof TallystickError && error.hint !== undefined
        ? error.hint
        : "Check the disk and the ledger's folder (tallystick ledger fsck), and start the service again.";
    this.#log("The index cannot be completed, so nothing can be written. It is tried again every second.", {
      code,
      reason: message ?? String(error),
      hint,
    });
  }

  /** Ends the attempts to complete the index. Resolves when the last one has stopped. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#catchingUp;
  }
}

const textOf = (error: unknown): string => `${(error as { code?: string }).code} ${String(error)}`;
