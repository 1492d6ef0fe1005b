import type { TallystickError } from "tallystick-protocol/errors";
import { asOurOwn } from "tallystick-runtime/http/requestScope";
import type { Log } from "tallystick-runtime/stderrLog";
import type { DiskLedger } from "../ledger/diskLedger.ts";
import type { LedgerGate } from "../ledger/ledgerGate.ts";
import { compareIndexes } from "./compareIndexes.ts";
import type { LedgerIndex } from "./ledgerIndex.ts";

/** How long to wait before an index that the disk refused is written again, in milliseconds. */
const RETRY_MS = 1_000;

/** Errors that end the service. A full disk during the comparison proves nothing and is not one of them. */
const FOUND: unknown[] = ["ledger_line", "ledger_layout", "index_differs"];

export type IndexKeeperParameters = {
  gate: LedgerGate;
  log: Log;
  /** Called when ledger or index have changed from outside: the process should end. */
  onFailure: (error: Error) => void;
};

/**
 * Looks after the index while the service runs. If the disk refuses it, nothing is written until it is complete again. What
 * was not read of the ledger at the start is read in the background: every line is compared with the tree, and the index
 * with one that is rebuilt from these lines.
 */
export class IndexKeeper {
  readonly #parameters: IndexKeeperParameters;
  readonly #end = new AbortController();
  #kept: { index: LedgerIndex; ledger: DiskLedger } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #checking: Promise<void> = Promise.resolve();
  #catchingUp: Promise<void> = Promise.resolve();

  constructor(parameters: IndexKeeperParameters) {
    this.#parameters = parameters;
  }

  /** Gives it the index and the ledger, once the ledger is open. */
  keep(index: LedgerIndex, ledger: DiskLedger): void {
    this.#kept = { index, ledger };
  }

  /** Call it when the disk has refused the index. */
  behind(error: TallystickError): void {
    this.#parameters.gate.close("index", error);
    this.#tryLater();
  }

  #tryLater(): void {
    clearTimeout(this.#timer);
    if (this.#end.signal.aborted) return;
    asOurOwn(() => {
      this.#timer = setTimeout(() => {
        this.#catchingUp = this.#catchUp();
      }, RETRY_MS);
    });
    this.#timer?.unref();
  }

  async #catchUp(): Promise<void> {
    if (!this.#kept) return;
    const { index, ledger } = this.#kept;
    if (await index.catchUp((at) => ledger.entry(at))) this.#parameters.gate.open("index");
    else this.#tryLater();
  }

  /** Begins to read what was not read at the start, if anything. */
  start(): void {
    if (!this.#kept || this.#kept.ledger.unread === 0) return;
    const { log, onFailure } = this.#parameters;
    this.#checking = this.#check(this.#kept).catch((error) => {
      if (this.#end.signal.aborted) return;
      if (!FOUND.includes(error?.code))
        return log("The index could not be compared; the next start tries again.", { error });
      log("The ledger or its index is not what it was.", { error });
      onFailure(error);
    });
  }

  /** Resolves when all was read, or something was found. */
  get finished(): Promise<void> {
    return this.#checking;
  }

  async #check({ index, ledger }: { index: LedgerIndex; ledger: DiskLedger }): Promise<void> {
    const { signal } = this.#end;
    const comparison = compareIndexes(index, ledger, signal);
    try {
      await ledger.checkRest(signal, comparison.add);
      await comparison.finish();
    } finally {
      comparison.close();
    }
  }

  /** Ends it. Resolves when none of its work is running. */
  async stop(): Promise<void> {
    this.#end.abort();
    clearTimeout(this.#timer);
    await this.#checking;
    await this.#catchingUp;
  }
}
