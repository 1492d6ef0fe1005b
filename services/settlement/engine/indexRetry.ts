import type { TallystickError } from "tallystick-protocol/errors";
import { asOurOwn } from "tallystick-runtime/http/requestScope";
import type { DiskLedger } from "../ledger/diskLedger.ts";
import type { LedgerGate } from "../ledger/ledgerGate.ts";
import type { LedgerIndex } from "./ledgerIndex.ts";

/** How long to wait before an index that the disk refused is written again, in milliseconds. */
const RETRY_MS = 1_000;

/** Completes the index again after the disk refused to write it. Until then the gate keeps out all writes to the ledger. */
export class IndexRetry {
  readonly #gate: LedgerGate;
  #isStopped = false;
  #attached: { index: LedgerIndex; ledger: DiskLedger } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #catchingUp: Promise<void> = Promise.resolve();

  constructor(gate: LedgerGate) {
    this.#gate = gate;
  }

  /** Takes the index and the ledger, once the ledger is open. */
  attach(index: LedgerIndex, ledger: DiskLedger): void {
    this.#attached = { index, ledger };
  }

  /** Call this when the disk has refused to write the index. */
  refused(error: TallystickError): void {
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
    // Without this, one failed read of the ledger would end the attempts, and nothing could be written any more.
    const isComplete = await index.catchUp((at) => ledger.entry(at)).catch(() => false);
    if (isComplete) this.#gate.open("index");
    else this.#tryLater();
  }

  /** Ends the attempts to complete the index. Resolves when the last one has stopped. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#catchingUp;
  }
}
