import { rmSync, statfsSync, statSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { TallystickError } from "tallystick-protocol/errors";
import { LedgerLineError } from "tallystick-protocol/ledger/verifyLedger";
import type { LedgerName } from "tallystick-protocol/records/ledgerName";
import type { Log } from "tallystick-runtime/stderrLog";
import { startThread } from "tallystick-runtime/threads/startThread";
import { INDEX_FILE } from "../engine/indexDatabase.ts";
import type { LedgerIndex } from "../engine/ledgerIndex.ts";
import type { DiskLedger } from "../ledger/diskLedger.ts";
import { diskReason } from "../ledger/diskReason.ts";
import type { LedgerGate } from "../ledger/ledgerGate.ts";
import { CHECK_FOLDER, indexDiffers } from "./compareIndexes.ts";

/** The input of the comparing thread. `share`: its share of one core, above 0 and at most 1. */
export type CompareOrder = { folder: string; ledger: LedgerName; salt: string; share: number };

/** The messages of this thread. `failed` proves nothing: the disk may be full. */
export type CompareMessage =
  | { kind: "progress"; entries: number }
  | { kind: "same"; entries: number; rows: number }
  | { kind: "line"; line: number; reason: string }
  | { kind: "differs"; message: string; hint: string }
  | { kind: "failed"; reason: string; path: string | undefined };

/** Time from the start to the first comparison, and from the end of one to the next, in milliseconds. */
const FIRST_MS = 30_000;
const REST_MS = 300_000;

/** Memory of the thread's JavaScript, in MB. */
const MEMORY = { heapMb: 96, youngMb: 8 };

/**
 * The free bytes that must remain beside the second index, which is as large as the first. The ledger needs them,
 * because it grows while the indexes are compared.
 */
const SPARE_BYTES = 256 << 20;

export type LedgerVerifierParameters = {
  gate: LedgerGate;
  log: Log;
  /** The time, in unix seconds. */
  now: () => number;
  /** The share of one core for comparisons, from 0 (no comparisons) to 1. */
  share: number;
  /** Whether writes wait until every line was read. */
  beforeWrites: boolean;
  /** Replace {@link FIRST_MS} and {@link REST_MS}. */
  firstMs?: number;
  restMs?: number;
};

/** The progress of the verification. Times in unix seconds. */
export type VerificationState = {
  /** The number of entries that existed before the start and were not read since. */
  unread: number;
  /** The last comparison that found no difference: its end, its seconds, and how many entries and rows it had. */
  compared: { at: number; seconds: number; entries: number; rows: number } | null;
  /** The number of entries that the present comparison has read; null between two comparisons. */
  comparing: number | null;
  /** Why the last comparison had no result; null if it had one. */
  problem: string | null;
  /** The error code of the fault that was found; null if there is none. */
  found: string | null;
};

/**
 * Verifies a ledger and its index while the service runs. First it reads the lines that the start has not
 * read. Writes wait for that. After that a thread makes a second index from the lines again and again, and
 * compares it with the one in use. If they differ, writing and signing stop, and reads continue. An
 * interrupted comparison starts from the beginning, because somebody may have changed its file meanwhile.
 */
export class LedgerVerifier {
  readonly #parameters: LedgerVerifierParameters;
  readonly #end = new AbortController();
  #kept: { index: LedgerIndex; ledger: DiskLedger } | undefined;
  #reading: Promise<void> = Promise.resolve();
  #running: Promise<void> = Promise.resolve();
  #read = 0;
  #state: Omit<VerificationState, "unread"> = { compared: null, comparing: null, problem: null, found: null };

  constructor(parameters: LedgerVerifierParameters) {
    this.#parameters = parameters;
  }

  /** Sets the ledger and index to verify, before anything is written. */
  keep(index: LedgerIndex, ledger: DiskLedger): void {
    this.#kept = { index, ledger };
    if (ledger.unread > 0 && this.#parameters.beforeWrites)
      this.#parameters.gate.close("unread", unread(ledger.unread), { quietly: true });
  }

  /** Begins. Returns at once. */
  start(): void {
    if (!this.#kept) return;
    const { index, ledger } = this.#kept;
    this.#reading = this.#readRest(index, ledger);
    this.#running = this.#reading.then(() => this.#compareAgainAndAgain(index, ledger));
  }

  /** Resolves when every line was read or a fault was found. */
  get linesRead(): Promise<void> {
    return this.#reading;
  }

  get state(): VerificationState {
    const unread = this.#kept?.ledger.unread ?? 0;
    // `unread` becomes 0 only at the end, because then writes are accepted.
    return { unread: Math.min(unread, Math.max(1, unread - this.#read)), ...this.#state };
  }

  /** Stops the verification. Resolves when its work has stopped. */
  async stop(): Promise<void> {
    this.#end.abort();
    await this.#running;
  }

  async #readRest(index: LedgerIndex, ledger: DiskLedger): Promise<void> {
    const { gate, log } = this.#parameters;
    const { signal } = this.#end;
    const onProgress = (lines: number): void => {
      this.#read = lines;
    };
    try {
      const hasRoot = await ledger.readRest({ signal, onProgress });
      if (!hasRoot) return this.#found(index, indexDiffers("the root of its tree"));
      this.#read = 0;
      gate.open("unread");
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof LedgerLineError) return this.#found(index, ledgerChanged(error));
      // Writes continue to wait, because the content of the ledger is not verified.
      this.#state.problem = diskReason(error);
      log("The ledger could not be read; the next start tries again.", { error });
    }
  }

  async #compareAgainAndAgain(index: LedgerIndex, ledger: DiskLedger): Promise<void> {
    const { share, firstMs = FIRST_MS, restMs = REST_MS } = this.#parameters;
    const { signal } = this.#end;
    if (share === 0) return;
    for (let ms = firstMs; this.#state.found === null; ms = restMs) {
      try {
        await pause(ms, undefined, { signal, ref: false });
      } catch {
        return;
      }
      await this.compare(index, ledger);
      if (signal.aborted) return;
    }
  }

  /** One comparison. Never rejects: {@link state} has the result. */
  async compare(index: LedgerIndex, ledger: DiskLedger): Promise<void> {
    const { now, log } = this.#parameters;
    const started = performance.now();
    this.#state.comparing = 0;
    try {
      requireSpace(ledger.folder);
      const result = await this.#ask(index, ledger);
      if (result.kind === "line")
        return this.#found(index, ledgerChanged(new LedgerLineError(result.line, result.reason)));
      if (result.kind === "differs") {
        const { message, hint } = result;
        return this.#found(index, new TallystickError({ code: "index_differs", message, hint }));
      }
      if (result.kind === "failed") {
        const { reason, path } = result;
        throw Object.assign(new Error(reason), path !== undefined && { path });
      }
      if (result.kind !== "same") throw new Error("no result");
      const { entries, rows } = result;
      this.#state.compared = { at: now(), seconds: (performance.now() - started) / 1_000, entries, rows };
      this.#state.problem = null;
    } catch (error) {
      if (this.#end.signal.aborted) return;
      this.#state.problem = diskReason(error);
      log("The index could not be compared; it is tried again.", { error });
    } finally {
      this.#state.comparing = null;
      rmSync(path.join(ledger.folder, CHECK_FOLDER), { recursive: true, force: true });
    }
  }

  async #ask(index: LedgerIndex, { folder }: DiskLedger): Promise<CompareMessage> {
    const { signal } = this.#end;
    const { share } = this.#parameters;
    const workerData: CompareOrder = { folder, ledger: index.ledgerName, salt: index.salt, share };
    const worker = startThread(new URL("./compareWorker.ts", import.meta.url), {
      ...MEMORY,
      workerData,
    });
    const { promise, resolve, reject } = Promise.withResolvers<CompareMessage>();
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    worker.on("message", (message: CompareMessage) => {
      if (message.kind === "progress") this.#state.comparing = message.entries;
      else resolve(message);
    });
    worker.on("error", reject);
    worker.on("exit", (code) => reject(new Error(`the comparing thread ended with ${code}`)));
    // Without this, listening for messages would keep the process alive.
    worker.unref();
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", onAbort);
      await worker.terminate();
    }
  }

  #found(index: LedgerIndex, reason: TallystickError): void {
    this.#state.found = reason.code;
    this.#parameters.gate.close("changed", reason);
    if (reason.code === "index_differs") index.refuse(reason);
  }
}

function unread(count: number): TallystickError {
  return new TallystickError({
    code: "ledger_unread",
    message: `The last start has not read all of the ledger yet: ${count.toLocaleString("en-US")} entries. Writes wait for it.`,
    hint: "It continues by itself, and GET /health shows the progress. Reads work meanwhile.",
  });
}

function ledgerChanged(error: LedgerLineError): TallystickError {
  return new TallystickError({
    code: "ledger_changed",
    message: `The ledger's file differs from what was written: line ${error.line}: ${error.reason}.`,
    hint: "Stop the service and restore the file from a copy, such as a follower's. Then find out who changed it.",
    cause: error,
  });
}

/** A second index must not take the space that the ledger needs next. */
function requireSpace(folder: string): void {
  const { bavail, bsize } = statfsSync(folder);
  const needed = statSync(path.join(folder, INDEX_FILE)).size + SPARE_BYTES;
  if (bavail * bsize < needed)
    throw new Error(`the disk has no room for a second index (${needed} bytes): make space`);
}
