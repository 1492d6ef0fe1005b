import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { SignatureReading } from "./readSignature.ts";

/** A signature, and the text that it should sign. */
export type Question = [text: string, signature: string];

/** Questions that went to a thread together, and the functions that end the wait for their answers. */
type Batch = { size: number; resolve: (readings: SignatureReading[] | null) => void };

/** A thread and its unanswered batches. It answers in order. */
type Thread = {
  worker: Worker;
  batches: Batch[];
  isReady: boolean;
  hasAnswered: boolean;
  /**
   * Ticks of the watch since the last answer, or since the first question after it. The watch counts ticks instead of
   * time, so a suspended process causes no timeout.
   */
  silence: number;
};

export type SignatureThreadsParameters = {
  /** The most threads. At least one thread is used, and at most one less than the machine has cores. */
  most: number;
  /** Called with the reason why a thread ended, and whether threads are given up completely. */
  onEnd: (reason: string, isOver: boolean) => void;
  /** The longest silence of a thread with open questions, in milliseconds. Default 10,000. */
  patienceMs?: number | undefined;
  /** The program of a thread; replaced in tests. */
  program?: URL | undefined;
};

/** Number of ticks of the watch within the longest silence. */
const TICKS = 10;

/**
 * Threads that read signatures, because recovering a key is the most expensive step for a record. They only
 * save time: a caller without an answer reads the signatures itself.
 *
 * They start when they are first needed. A thread that ends or hangs is replaced. If it never answered, a new thread
 * would not answer either, so no more threads are started.
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

  /** The number of ready threads with at most this many open batches. */
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
   * Asks the thread with the least work, preferably one that is ready. Starts missing threads. Never rejects.
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

  /** Ends the threads. Open questions get no answer. */
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
    // The process may end when it has nothing else to do. This comes after the listeners, because adding a
    // listener would keep the process alive again.
    worker.unref();
    return thread;
  }

  #end(thread: Thread, reason: string): void {
    // A thread that was already given up is not reported again.
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

  /** Runs the watch while somebody waits. It keeps the process alive, which the threads do not. */
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
