import type { TallystickError } from "tallystick-protocol/errors";
import { asOurOwn } from "tallystick-runtime/http/requestScope";
import type { Log } from "tallystick-runtime/stderrLog";
import type { DiskLedger } from "../ledger/diskLedger.ts";
import type { LedgerGate } from "../ledger/ledgerGate.ts";
import { compareIndexes } from "./compareIndexes.ts";
import type { LedgerIndex } from "./ledgerIndex.ts";

/** How soon it is tried again to write an index that the disk has refused, in milliseconds. */
const RETRY_MS = 1_000;

/** What ends the service when it is found; a disk that has no room for the comparison says nothing of either. */
const FOUND: unknown[] = ["ledger_line", "ledger_layout", "index_differs"];

export type IndexKeeperParameters = {
  gate: LedgerGate;
  log: Log;
  /** Told when ledger or index are not what they were: the process should end. */
  onFailure: (error: Error) => void;
};

/**
 * Sees to the index while the service runs. When the disk refuses it, nothing is written until it is whole again. And what
 * was not read of the ledger at the start is read in the background: every line is compared with the tree, and the index with
 * one that is made anew of these lines.
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

  /** Names what it keeps, once the ledger is open. */
  keep(index: LedgerIndex, ledger: DiskLedger): void {
    this.#kept = { index, ledger };
  }

  /** Tell it that the disk has refused the index. */
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

  /** Begins to read what was not read at the start, if there is any. */
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

  /** Ends it. Resolves when nothing of it is under way. */
  async stop(): Promise<void> {
    this.#end.abort();
    clearTimeout(this.#timer);
    await this.#checking;
    await this.#catchingUp;
  }
}
