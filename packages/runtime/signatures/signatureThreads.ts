import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { SignatureReading } from "./readSignature.ts";

/** A signature, and the text that it may be over. */
export type Question = [text: string, signature: string];

/** Questions that a thread was asked together, and who waits for the answers. */
type Batch = { size: number; resolve: (readings: SignatureReading[] | null) => void };

/** A thread, and what it has not answered yet: it answers in the order in which it is asked. */
type Thread = {
  worker: Worker;
  batches: Batch[];
  isReady: boolean;
  hasAnswered: boolean;
  /** Ticks of the watch since it was asked or answered. Counted, so that time in which this process was held does not pass. */
  silence: number;
};

export type SignatureThreadsParameters = {
  /** How many threads are used at most; no more than there are cores besides the first, and at least one. */
  most: number;
  /** Told why a thread ended, and whether none is used any more. */
  onEnd: (reason: string, isOver: boolean) => void;
  /** How long a thread that is asked may say nothing, in milliseconds. Default 10,000. */
  patienceMs?: number | undefined;
  /** The program of a thread; replaced in tests. */
  program?: URL | undefined;
};

/** The watch looks at every thread so often within its patience. */
const TICKS = 10;

/**
 * Threads that read signatures: recovering a key costs more than everything else that is done with a record. Only time
 * depends on them: a caller without an answer reads the signatures itself.
 *
 * They start when they are first useful. A thread that ends, or does not answer, is replaced. If it never answered, another
 * would not either, and no threads are used any more.
 */
export class SignatureThreads {
  readonly #parameters: SignatureThreadsParameters;
  readonly #most: number;
  #threads: Thread[] = [];
  #isOver = false;
  #watch: NodeJS.Timeout | undefined;

  constructor(parameters: SignatureThreadsParameters) {
    this.#parameters = parameters;
    this.#most = Math.min(parameters.most, Math.max(1, availableParallelism() - 1));
  }

  /** Number of threads that can be asked without waiting for their start. */
  get ready(): number {
    return this.#ready().length;
  }

  /** How many of them have so many batches to answer, or fewer. */
  withAtMost(batches: number): number {
    return this.#ready().filter((thread) => thread.batches.length <= batches).length;
  }

  /** Starts the threads that are missing. */
  start(): void {
    const { program = new URL("./signatureWorker.ts", import.meta.url) } = this.#parameters;
    try {
      while (!this.#isOver && this.#threads.length < this.#most) this.#threads.push(this.#startOne(program));
    } catch (error) {
      this.#endAll(reasonOf(error));
    }
  }

  /**
   * Asks the thread that has the least to do, one that is ready if there is any. Starts those that are missing. Never rejects.
   *
   * @returns the readings in the order of the questions; null when no thread answered
   */
  async ask(questions: Question[]): Promise<SignatureReading[] | null> {
    this.start();
    const [first, ...others] = this.ready > 0 ? this.#ready() : this.#threads;
    if (first === undefined) return null;
    const thread = others.reduce((a, b) => (hasLessToDo(b, a) ? b : a), first);
    const { promise, resolve } = Promise.withResolvers<SignatureReading[] | null>();
    if (thread.batches.length === 0) thread.silence = 0;
    thread.batches.push({ size: questions.length, resolve });
    thread.worker.postMessage(questions);
    this.#startWatch();
    return promise;
  }

  /** Ends the threads. Those who wait for an answer get none. */
  async close(): Promise<void> {
    this.#isOver = true;
    await this.#leave(this.#threads);
  }

  #ready(): Thread[] {
    return this.#threads.filter(({ isReady }) => isReady);
  }

  #startOne(program: URL): Thread {
    const worker = new Worker(program);
    const thread: Thread = { worker, batches: [], isReady: false, hasAnswered: false, silence: 0 };
    worker.on("message", (message: "ready" | SignatureReading[]) => {
      thread.isReady = true;
      if (message === "ready") return;
      thread.hasAnswered = true;
      thread.silence = 0;
      thread.batches.shift()?.resolve(message);
      this.#endWatchWhenIdle();
    });
    worker.on("error", (error) => this.#end(thread, reasonOf(error)));
    worker.on("exit", (code) => this.#end(thread, `exit code ${code}`));
    // A process that has nothing else to do may end. After the listeners: one of them would hold it again.
    worker.unref();
    return thread;
  }

  #end(thread: Thread, reason: string): void {
    // One that was left is silent about it.
    if (!this.#threads.includes(thread)) return;
    if (!thread.hasAnswered) this.#endAll(reason);
    else {
      void this.#leave([thread]);
      this.#parameters.onEnd(reason, false);
    }
  }

  #endAll(reason: string): void {
    this.#isOver = true;
    void this.#leave(this.#threads);
    this.#parameters.onEnd(reason, true);
  }

  async #leave(threads: Thread[]): Promise<void> {
    this.#threads = this.#threads.filter((thread) => !threads.includes(thread));
    this.#endWatchWhenIdle();
    for (const { resolve } of threads.flatMap(({ batches }) => batches)) resolve(null);
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }

  /** As long as somebody waits; holds the process meanwhile, which the threads do not. */
  #startWatch(): void {
    const { patienceMs = 10_000 } = this.#parameters;
    this.#watch ??= setInterval(() => {
      for (const thread of this.#threads) {
        if (thread.batches.length > 0 && ++thread.silence >= TICKS)
          this.#end(thread, `no answer within ${patienceMs} ms`);
      }
    }, patienceMs / TICKS);
  }

  #endWatchWhenIdle(): void {
    if (this.#threads.some(({ batches }) => batches.length > 0)) return;
    clearInterval(this.#watch);
    this.#watch = undefined;
  }
}

function hasLessToDo(a: Thread, b: Thread): boolean {
  return a.batches.length === b.batches.length ? sizeOf(a) < sizeOf(b) : a.batches.length < b.batches.length;
}

function sizeOf({ batches }: Thread): number {
  return batches.reduce((sum, { size }) => sum + size, 0);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
