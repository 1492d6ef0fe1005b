import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { Address } from "tallystick-protocol/address";

/** A signature, and the text that it may be over. */
export type Question = [text: string, signature: string];

/** Whose wallet keys made signatures, null for those that none did, in the order of the questions. */
export type Answers = (Address | null)[];

/** A thread, and those who wait for it: it answers in the order in which it is asked. */
type Thread = { worker: Worker; waiting: ((answers: Answers | null) => void)[] };

export type SignerThreadsParameters = {
  /** Told once why threads are no longer used. */
  onEnd: (reason: string) => void;
  /** How long a thread that is asked may say nothing. Default 10,000. */
  patienceMs?: number;
  /** The program of a thread; replaced in tests. */
  program?: URL;
};

/** More than two would wait for the main thread, which does as much with every record as recovering a key costs. */
const MOST_THREADS = 2;

/**
 * Threads that recover the keys behind signatures, which costs more than all else that is done with a record.
 *
 * They are started when they are first asked. When one fails, none is used any more: nothing depends on their answers but
 * time.
 */
export class SignerThreads {
  readonly #parameters: SignerThreadsParameters;
  #threads: Thread[] | undefined;
  #watch: NodeJS.Timeout | undefined;
  /** Ticks of the watch since an answer came. Counted, so that time in which this process was held does not pass. */
  #silence = 0;

  constructor(parameters: SignerThreadsParameters) {
    this.#parameters = parameters;
  }

  /** Asks a thread; null when there is none (any more): then the asker has to find out itself. Never rejects. */
  async ask(questions: Question[]): Promise<Answers | null> {
    this.#threads ??= this.#start();
    const [first, ...others] = this.#threads;
    if (first === undefined) return null;
    const thread = others.reduce((a, b) => (b.waiting.length < a.waiting.length ? b : a), first);
    const { promise, resolve } = Promise.withResolvers<Answers | null>();
    thread.waiting.push(resolve);
    thread.worker.postMessage(questions);
    this.#startWatch();
    return promise;
  }

  #start(): Thread[] {
    const { program = new URL("./signerWorker.ts", import.meta.url) } = this.#parameters;
    const count = Math.min(MOST_THREADS, Math.max(1, availableParallelism() - 1));
    try {
      return Array.from({ length: count }, () => this.#startThread(program));
    } catch (error) {
      this.#parameters.onEnd(reasonOf(error));
      return [];
    }
  }

  #startThread(program: URL): Thread {
    const thread: Thread = { worker: new Worker(program), waiting: [] };
    thread.worker.on("message", (answers: Answers) => {
      thread.waiting.shift()?.(answers);
      this.#silence = 0;
      if (this.#threads?.every(({ waiting }) => waiting.length === 0)) this.#endWatch();
    });
    thread.worker.on("error", (error) => this.#end(reasonOf(error)));
    thread.worker.on("exit", (code) => this.#end(`exit code ${code}`));
    // A process that has nothing else to do may end. After the listeners: one of them would hold it again.
    thread.worker.unref();
    return thread;
  }

  #end(reason: string): void {
    const threads = this.#threads ?? [];
    if (threads.length === 0) return;
    this.#threads = [];
    this.#endWatch();
    this.#parameters.onEnd(reason);
    for (const { worker, waiting } of threads) {
      for (const resolve of waiting) resolve(null);
      void worker.terminate();
    }
  }

  /** As long as somebody waits; holds the process meanwhile, which the threads do not. */
  #startWatch(): void {
    const { patienceMs = 10_000 } = this.#parameters;
    this.#watch ??= setInterval(() => {
      if (++this.#silence >= 10) this.#end(`no answer within ${patienceMs} ms`);
    }, patienceMs / 10);
  }

  #endWatch(): void {
    clearInterval(this.#watch);
    this.#watch = undefined;
    this.#silence = 0;
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
