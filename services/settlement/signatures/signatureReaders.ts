import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { Log } from "../log.ts";
import type { ReadSignature, SignatureReading } from "./readSignature.ts";

type Job = {
  canonicalBody: string;
  signature: string;
  resolve: (reading: SignatureReading) => void;
};

/** A thread, and the batches it has not answered yet: it answers them in order. */
type Thread = { worker: Worker; batches: Job[][]; jobs: number; isReady: boolean };

export type SignatureReadersParameters = {
  /** Reads a signature on the thread of the caller. */
  here: (canonicalBody: string, signature: string) => SignatureReading;
  log: Log;
  /** How many threads to use at most; as many as there are cores besides the first, up to four. */
  threads?: number;
  /** The program of a thread; replaced in tests by one that fails. */
  program?: URL;
};

/**
 * So many signatures are worth a message to a thread that is busy: it reads them after those it has, without waiting
 * until it is heard here that it is through. It gets no third batch.
 */
const WORTH_SENDING = 8;

/** Most signatures in a batch: all of them are answered when the last one is read. */
const MOST_JOBS = 32;

/**
 * Reads signatures on other threads when many come at once, as recovering a key costs more than everything else that
 * is done for a record. One that comes alone is read where it is: that answers soonest.
 *
 * What comes while every thread has enough to do waits here, and goes to the first that is through as one batch: the
 * more there is to do, the fewer messages it takes.
 *
 * The threads are started when they are first of use. What a thread that ends did not answer is read here.
 */
export class SignatureReaders {
  readonly #parameters: SignatureReadersParameters;
  readonly #most: number;
  #threads: Thread[] = [];
  #waiting: Job[] = [];
  /** Set when what waits will be looked at in this turn of the event loop. */
  #soon: NodeJS.Immediate | undefined;
  #closed = false;

  constructor(parameters: SignatureReadersParameters) {
    this.#parameters = parameters;
    this.#most = parameters.threads ?? Math.min(4, Math.max(1, availableParallelism() - 1));
  }

  /** Reads one signature. Those that are asked for in one turn of the event loop go to a thread together. */
  readonly read: ReadSignature = (canonicalBody, signature) =>
    new Promise((resolve) => {
      this.#waiting.push({ canonicalBody, signature, resolve });
      this.#soon ??= setImmediate(() => this.#dispatch());
    });

  /** Number of threads that are at work. */
  get threads(): number {
    return this.#threads.filter(({ isReady }) => isReady).length;
  }

  /** Ends the threads; what is still asked is read here. */
  async close(): Promise<void> {
    this.#closed = true;
    const threads = this.#threads;
    this.#threads = [];
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
    for (const { batches } of threads) this.#readHere(batches.flat());
    this.#dispatch();
  }

  #dispatch(): void {
    clearImmediate(this.#soon);
    this.#soon = undefined;
    const count = this.#waiting.length;
    const ready = this.#threads.filter(({ isReady }) => isReady);
    const isIdle = ready.every(({ jobs }) => jobs === 0);
    if (count > 1 && this.#threads.length < this.#most && !this.#closed) this.#start();
    if (ready.length === 0 || (count === 1 && isIdle)) {
      this.#readHere(this.#waiting.splice(0));
      return;
    }
    // Every thread gets a share, the least busy ones the first.
    const most = count < WORTH_SENDING ? 0 : 1;
    const free = ready.filter(({ batches }) => batches.length <= most).sort((a, b) => a.jobs - b.jobs);
    const share = Math.min(MOST_JOBS, Math.ceil(count / free.length));
    for (const thread of free) {
      if (this.#waiting.length > 0) send(thread, this.#waiting.splice(0, share));
    }
  }

  #readHere(jobs: Job[]): void {
    for (const { canonicalBody, signature, resolve } of jobs) {
      resolve(this.#parameters.here(canonicalBody, signature));
    }
  }

  #start(): void {
    const { program = new URL("./signatureWorker.ts", import.meta.url), log } = this.#parameters;
    const thread: Thread = { worker: new Worker(program), batches: [], jobs: 0, isReady: false };
    this.#threads.push(thread);
    // A process that has nothing else to do may end.
    thread.worker.unref();
    thread.worker.on("message", (message: "ready" | SignatureReading[]) => {
      if (message === "ready") {
        thread.isReady = true;
        return;
      }
      const batch = thread.batches.shift() ?? [];
      thread.jobs -= batch.length;
      for (const [at, { resolve }] of batch.entries()) resolve(message[at] as SignatureReading);
      if (this.#waiting.length > 0) this.#dispatch();
    });
    const end = (reason: string): void => {
      if (this.#closed || !this.#threads.includes(thread)) return;
      log("A thread that reads signatures ended; they are read without it.", { reason });
      this.#threads = this.#threads.filter((one) => one !== thread);
      // One that cannot start would fail again and again.
      this.#closed ||= !thread.isReady;
      this.#readHere(thread.batches.flat());
      this.#dispatch();
    };
    thread.worker.on("error", (error) => end(error instanceof Error ? error.message : String(error)));
    thread.worker.on("exit", (code) => end(`exit code ${code}`));
  }
}

function send(thread: Thread, batch: Job[]): void {
  thread.batches.push(batch);
  thread.jobs += batch.length;
  thread.worker.postMessage(batch.map(({ canonicalBody, signature }) => [canonicalBody, signature]));
}
