import type { ReadSignature, SignatureReading } from "tallystick-runtime/signatures/readSignature";
import { SignatureThreads } from "tallystick-runtime/signatures/signatureThreads";
import type { Log } from "tallystick-runtime/stderrLog";

type Job = {
  canonicalBody: string;
  signature: string;
  resolve: (reading: SignatureReading) => void;
};

export type SignatureReadersParameters = {
  /** Reads a signature on the thread of the caller. */
  here: (canonicalBody: string, signature: string) => SignatureReading;
  log: Log;
  /** How many threads to use at most; as many as there are cores besides the first, up to four. */
  threads?: number;
  /** How long a thread that is asked may say nothing, in milliseconds. */
  patienceMs?: number;
  /** The program of a thread; replaced in tests by one that fails. */
  program?: URL;
};

/** Threads used at most. */
const MAX_THREADS = 4;

/**
 * So many signatures are worth a message to a thread that is busy: it reads them after those it has, without waiting
 * until it is heard here that it is through. It gets no third batch.
 */
const WORTH_SENDING = 8;

/** Most signatures in a batch: all of them are answered when the last one is read. */
const MAX_JOBS = 32;

/**
 * Reads signatures on other threads when many come at once, as recovering a key costs more than everything else that
 * is done for a record. One that comes alone is read where it is: that answers soonest.
 *
 * What comes while every thread has enough to do waits here, and goes to the first that is through as one batch: the
 * more there is to do, the fewer messages it takes. What no thread answers is read here.
 */
export class SignatureReaders {
  readonly #here: SignatureReadersParameters["here"];
  readonly #threads: SignatureThreads;
  #waiting: Job[] = [];
  /** Set when what waits will be looked at in this turn of the event loop. */
  #soon: NodeJS.Immediate | undefined;

  constructor({ here, log, threads: most = MAX_THREADS, ...more }: SignatureReadersParameters) {
    this.#here = here;
    const sentence = "A thread that reads signatures ended; they are read without it.";
    this.#threads = new SignatureThreads({ most, onEnd: (reason) => log(sentence, { reason }), ...more });
  }

  /** Reads one signature. Those that are asked for in one turn of the event loop go to a thread together. */
  readonly read: ReadSignature = (canonicalBody, signature) =>
    new Promise((resolve) => {
      this.#waiting.push({ canonicalBody, signature, resolve });
      this.#soon ??= setImmediate(() => this.#dispatch());
    });

  /** Number of threads that are at work. */
  get threads(): number {
    return this.#threads.ready;
  }

  /** Ends the threads; what is still asked is read here. */
  async close(): Promise<void> {
    await this.#threads.close();
    this.#dispatch();
  }

  #dispatch(): void {
    clearImmediate(this.#soon);
    this.#soon = undefined;
    const count = this.#waiting.length;
    if (count > 1) this.#threads.start();
    const { ready } = this.#threads;
    if (ready === 0 || (count === 1 && this.#threads.withAtMost(0) === ready)) {
      this.#readHere(this.#waiting.splice(0));
      return;
    }
    // Every thread gets a share.
    const free = this.#threads.withAtMost(count < WORTH_SENDING ? 0 : 1);
    const share = Math.min(MAX_JOBS, Math.ceil(count / free));
    for (let thread = 0; thread < free && this.#waiting.length > 0; thread++) {
      void this.#send(this.#waiting.splice(0, share));
    }
  }

  async #send(jobs: Job[]): Promise<void> {
    const readings = await this.#threads.ask(
      jobs.map(({ canonicalBody, signature }) => [canonicalBody, signature]),
    );
    if (readings === null) this.#readHere(jobs);
    else for (const [at, { resolve }] of jobs.entries()) resolve(readings[at] as SignatureReading);
    if (this.#waiting.length > 0) this.#dispatch();
  }

  #readHere(jobs: Job[]): void {
    for (const { canonicalBody, signature, resolve } of jobs) resolve(this.#here(canonicalBody, signature));
  }
}
