import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { availableParallelism } from "node:os";
import type { Worker } from "node:worker_threads";
import { GENESIS_HASH } from "tallystick-protocol/ledger/entry";
import type { VerifiedLedger } from "tallystick-protocol/ledger/verifyLedger";
import { MerkleRange, type RangeOfLeaves } from "tallystick-protocol/merkle/merkleRange";
import { sha256ByNode } from "tallystick-runtime/hashing/sha256ByNode";
import { startThread } from "tallystick-runtime/threads/startThread";

/** A message to a thread: a part of the file, and later the position of its first line. */
export type PartOrder =
  | { kind: "part"; part: number; start: number; end: number }
  | { kind: "place"; first: number };

/** A thread's message about a part. `doubtful`: a line is bad, or may be bad. */
export type PartMessage =
  | { kind: "counted"; part: number; lines: number }
  | { kind: "verified"; part: number; parent: string; head: string; leaves: RangeOfLeaves }
  | { kind: "doubtful"; part: number };

/** The bytes of a part. A thread has one part in memory. */
const PART_BYTES = 1 << 20;

/** How many bytes after its planned end a part may end, so that it ends with a line. No entry of ours is longer. */
const LONGEST_LINE = 1 << 17;

/** The most threads that are used. */
const MOST_THREADS = 16;

/** Below this size, in bytes, one thread has finished before others have started. */
const WORTH_THREADS = 16 << 20;

const MEMORY = { heapMb: 64, youngMb: 2 };
const NEWLINE = 0x0a;

export type VerifyInPartsParameters = {
  file: string;
  /** Verify up to this byte; the whole file when absent. */
  end?: number;
  /** The number of threads. Default: the number of cores. */
  threads?: number;
  /** Bytes of a part. Tests use a smaller value, so that small files use threads too. */
  partBytes?: number;
  signal?: AbortSignal | undefined;
  /** Called with the number of lines that were verified so far. */
  onProgress?: ((lines: number) => void) | undefined;
};

/**
 * Verifies a ledger's file on all cores: every line, the chain of hashes, and the Merkle root. Memory does
 * not grow with the file.
 *
 * @returns undefined when a line is bad or not canonical, when the last line has no newline, or when the file is too
 * small for threads. A caller that needs the bad line reads the file line by line
 */
export async function verifyInParts(
  parameters: VerifyInPartsParameters,
): Promise<VerifiedLedger | undefined> {
  const { file, threads = availableParallelism(), signal } = parameters;
  signal?.throwIfAborted();
  const parts = findParts(parameters);
  if (parts === undefined || threads < 2) return undefined;
  const workers = Array.from({ length: Math.min(threads, MOST_THREADS, parts.length) }, () =>
    startThread(new URL("./partWorker.ts", import.meta.url), { ...MEMORY, workerData: { file } }),
  );
  try {
    return await new Assembly(parts, workers, parameters).result;
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}

type Part = { start: number; end: number };

/** Cuts a file where lines end; undefined when it is small, or its lines cannot be those of a ledger that we write. */
function findParts({ file, end: given, partBytes }: VerifyInPartsParameters): Part[] | undefined {
  const least = partBytes ?? WORTH_THREADS;
  const step = partBytes ?? PART_BYTES;
  const handle = openSync(file, "r");
  try {
    const stat = fstatSync(handle);
    const size = given ?? stat.size;
    if (!stat.isFile() || size > stat.size || size < least) return undefined;
    const around = Buffer.alloc(LONGEST_LINE);
    const lineEnd = (from: number): number => {
      const count = readSync(handle, around, 0, Math.min(LONGEST_LINE, size - from), from);
      const at = around.subarray(0, count).indexOf(NEWLINE);
      return at === -1 ? -1 : from + at + 1;
    };
    if (lineEnd(size - 1) !== size) return undefined;
    const parts: Part[] = [];
    for (let start = 0; start < size; ) {
      const end = start + step >= size ? size : lineEnd(start + step - 1);
      if (end === -1) return undefined;
      parts.push({ start, end });
      start = end;
    }
    return parts;
  } finally {
    closeSync(handle);
  }
}

/** Hands out the parts in order, and joins the results of the threads. */
class Assembly {
  readonly result: Promise<VerifiedLedger | undefined>;
  readonly #parts: Part[];
  readonly #end: { resolve: (result: VerifiedLedger | undefined) => void; reject: (error: Error) => void };
  readonly #onProgress: ((lines: number) => void) | undefined;
  readonly #range = new MerkleRange(0, sha256ByNode);
  #head = GENESIS_HASH;
  #handedOut = 0;
  /** The number of parts with a known position, and the position after their last line. */
  #placed = 0;
  #lines = 0;
  readonly #counted = new Map<number, { lines: number; worker: Worker }>();
  readonly #verified = new Map<number, Extract<PartMessage, { kind: "verified" }>>();
  #joined = 0;

  constructor(parts: Part[], workers: Worker[], { signal, onProgress }: VerifyInPartsParameters) {
    const { promise, resolve, reject } = Promise.withResolvers<VerifiedLedger | undefined>();
    this.result = promise;
    this.#parts = parts;
    this.#end = { resolve, reject };
    this.#onProgress = onProgress;
    const onAbort = () => reject(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    promise.catch(() => {}).finally(() => signal?.removeEventListener("abort", onAbort));
    for (const worker of workers) {
      worker.on("message", (message: PartMessage) => this.#take(worker, message));
      worker.on("error", reject);
      worker.on("exit", (code) => reject(new Error(`a thread that verifies ended with ${code}`)));
      // Keeps the process alive, because a caller waits for the result.
      worker.ref();
      this.#handOut(worker);
    }
  }

  #handOut(worker: Worker): void {
    const part = this.#handedOut;
    const bytes = this.#parts[part];
    if (bytes === undefined) return;
    this.#handedOut++;
    worker.postMessage({ kind: "part", part, ...bytes } satisfies PartOrder);
  }

  #take(worker: Worker, message: PartMessage): void {
    if (message.kind === "doubtful") this.#end.resolve(undefined);
    else if (message.kind === "counted") {
      this.#counted.set(message.part, { lines: message.lines, worker });
      this.#place();
    } else {
      this.#verified.set(message.part, message);
      this.#handOut(worker);
      this.#join();
    }
  }

  /** Tells threads the positions of their parts, as soon as all earlier parts are counted. */
  #place(): void {
    for (let next = this.#counted.get(this.#placed); next; next = this.#counted.get(this.#placed)) {
      next.worker.postMessage({ kind: "place", first: this.#lines } satisfies PartOrder);
      this.#counted.delete(this.#placed++);
      this.#lines += next.lines;
    }
  }

  #join(): void {
    for (let next = this.#verified.get(this.#joined); next; next = this.#verified.get(this.#joined)) {
      // The chain is broken between two parts.
      if (next.parent !== this.#head) {
        this.#end.resolve(undefined);
        return;
      }
      this.#verified.delete(this.#joined++);
      this.#range.join(next.leaves);
      this.#head = next.head;
      this.#onProgress?.(this.#range.to);
    }
    if (this.#joined === this.#parts.length)
      this.#end.resolve({ size: this.#range.to, head: this.#head, root: this.#range.root() });
  }
}
