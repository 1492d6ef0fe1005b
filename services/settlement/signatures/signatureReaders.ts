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
  /** The most threads to use. Default: the number of cores minus one, at most four. */
  threads?: number;
  /** How long a thread may take to answer, in milliseconds. */
  patienceMs?: number;
  /** The program of a thread; replaced in tests by one that fails. */
  program?: URL;
};

/** The most threads that are used. */
const MAX_THREADS = 4;

/**
 * From this number of signatures on, a busy thread gets a second batch. It reads that batch right after the
 * first one, without a pause. It never gets a third batch.
 */
const WORTH_SENDING = 8;

/** The most signatures in a batch. All of them are answered when the last one is read. */
const MAX_JOBS = 32;

/**
 * Reads signatures on other threads when many come at once, because recovering a key costs more than all other
 * work for a record. A single signature is read on this thread, which gives the fastest answer.
 *
 * While all threads are busy, signatures wait here. The first free thread gets them as one batch, so more work
 * takes fewer messages for each signature. If a thread does not answer, its signatures are read here.
 */
export class SignatureReaders {
  readonly #here: SignatureReadersParameters["here"];
  readonly #threads: SignatureThreads;
  #waiting: Job[] = [];
  /** Set when the waiting signatures will be handed out in this turn of the event loop. */
  #soon: NodeJS.Immediate | undefined;

  constructor({ here, log, threads: most = MAX_THREADS, ...more }: SignatureReadersParameters) {
    this.#here = here;
    const sentence = "A thread that reads signatures ended; they are read without it.";
    this.#threads = new SignatureThreads({ most, onEnd: (reason) => log(sentence, { reason }), ...more });
  }

  /** Reads one signature. Signatures of one turn of the event loop go to a thread together. */
  readonly read: ReadSignature = (canonicalBody, signature) =>
    new Promise((resolve) => {
      this.#waiting.push({ canonicalBody, signature, resolve });
      this.#soon ??= setImmediate(() => this.#dispatch());
    });

  /** The number of threads that have started and can read signatures. */
  get threads(): number {
    return this.#threads.ready;
  }

  /** Ends the threads. Signatures that still wait are read here. */
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
