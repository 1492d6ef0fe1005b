import type { Log } from "tallystick-runtime/stderrLog";

export type CheckpointClockParameters = {
  /** Makes a checkpoint of the ledger as it is. */
  make: () => Promise<void>;
  /** The shortest time between two checkpoints, in milliseconds. */
  everyMs: number;
  /**
   * The sentence for the log when a checkpoint cannot be made. It is logged once, and again only after a
   * checkpoint succeeded in between.
   */
  complaint?: string;
  log: Log;
};

/** The factor by which the pause grows after a failure, because a disk may be full for a long time. */
const AFTER_FAILURE = 5;

/**
 * Decides when checkpoints are made: at most one in each interval, and none while the ledger does not grow.
 */
export class CheckpointClock {
  readonly #parameters: CheckpointClockParameters;
  #timer: NodeJS.Timeout | undefined;
  #making: Promise<void> | undefined;
  /** The next checkpoint is not made before this time, in milliseconds of `performance.now()`. */
  #restUntil = Number.NEGATIVE_INFINITY;
  #isWanted = false;
  #stopped = false;
  #hasFailed = false;

  constructor(parameters: CheckpointClockParameters) {
    this.#parameters = parameters;
  }

  /** Call this when there is something new to sign. */
  want(): void {
    this.#isWanted = true;
    if (this.#stopped || this.#timer || this.#making) return;
    this.#timer = setTimeout(() => this.#run(), Math.max(0, this.#restUntil - performance.now())).unref();
  }

  /** Stops the clock. Resolves when no checkpoint is being made. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#making;
  }

  #run(): void {
    this.#timer = undefined;
    this.#isWanted = false;
    this.#making = this.#make().finally(() => {
      this.#making = undefined;
      if (this.#isWanted) this.want();
    });
  }

  async #make(): Promise<void> {
    const { make, everyMs, complaint = "No checkpoint could be made; trying again.", log } = this.#parameters;
    this.#restUntil = performance.now() + everyMs;
    try {
      await make();
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed) log(complaint, { error });
      this.#hasFailed = true;
      this.#restUntil = performance.now() + AFTER_FAILURE * everyMs;
      this.#isWanted = true;
    }
  }
}
