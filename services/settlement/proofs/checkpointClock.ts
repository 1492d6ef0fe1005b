import type { Log } from "tallystick-runtime/stderrLog";

export type CheckpointClockParameters = {
  /** Makes a checkpoint of the ledger as it is. */
  make: () => Promise<void>;
  /** The shortest time between two, in milliseconds. */
  everyMs: number;
  /** Said once when it cannot be made, and not again until it could. */
  complaint?: string;
  log: Log;
};

/** How much longer to wait after one that could not be made: the disk may be full for long. */
const AFTER_FAILURE = 5;

/** Decides when checkpoints are made: at most one an interval however fast the ledger grows, none while it rests. */
export class CheckpointClock {
  readonly #parameters: CheckpointClockParameters;
  #timer: NodeJS.Timeout | undefined;
  #making: Promise<void> | undefined;
  /** The next one is not made before this moment. */
  #restUntil = Number.NEGATIVE_INFINITY;
  #isWanted = false;
  #stopped = false;
  #hasFailed = false;

  constructor(parameters: CheckpointClockParameters) {
    this.#parameters = parameters;
  }

  /** Tell it that there is something new to sign. */
  want(): void {
    this.#isWanted = true;
    if (this.#stopped || this.#timer || this.#making) return;
    this.#timer = setTimeout(() => this.#run(), Math.max(0, this.#restUntil - performance.now())).unref();
  }

  /** Ends it. Resolves when none is being made. */
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
