export type UplinkParameters = {
  /** Whether something else than the hosts that are probed can be reached now. */
  test: () => Promise<boolean>;
  /** How long a failure waits for an answer from elsewhere before that is tested, and how long until it is tested again. */
  delayMs: number;
  /** Milliseconds that never go back. */
  clock: () => number;
  /** Told when it is lost, and when it is there again. */
  onChange: (isLost: boolean) => void;
};

type Waiting = { ended: number; decide: (isOurs: boolean) => void };

/** Most failures that wait for proof; beyond that the oldest are nobody's. */
const MAX_WAITING = 20_000;

/**
 * Tells a host that is down from a prober that is cut off. A failure counts when something answered that was asked after it, and
 * the uplink was not lost in between; else it is the prober's own and nothing is recorded (STEWARD, T029).
 */
export class Uplink {
  readonly #parameters: UplinkParameters;
  #waiting: Waiting[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** What began before this and failed proves nothing. */
  #lostUntil = Number.NEGATIVE_INFINITY;
  isLost = false;

  constructor(parameters: UplinkParameters) {
    this.#parameters = parameters;
  }

  /** Something answered that was asked at `begun`. */
  noteAnswer(begun: number, now: number): void {
    if (this.isLost) {
      this.isLost = false;
      this.#lostUntil = now;
      this.#parameters.onChange(false);
    }
    const proven = this.#waiting.filter(({ ended }) => ended <= begun);
    this.#waiting = this.#waiting.filter(({ ended }) => ended > begun);
    for (const { decide } of proven) decide(false);
  }

  /**
   * A failure. Resolves when it is known whose it is.
   *
   * @returns whether it is the prober's own
   */
  async isOurs(begun: number, ended: number): Promise<boolean> {
    if (this.#isClosed || this.isLost || begun < this.#lostUntil) return true;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#waiting.push({ ended, decide: resolve });
    if (this.#waiting.length > MAX_WAITING) this.#waiting.shift()?.decide(true);
    this.#testSoon();
    return promise;
  }

  /** Nothing is tested any more; what waits is the prober's own. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#decideAll();
  }

  #testSoon(): void {
    if (this.#isClosed) return;
    this.#timer ??= setTimeout(() => {
      if (this.#waiting.length === 0 && !this.isLost) {
        this.#timer = undefined;
        return;
      }
      void this.#test().finally(() => {
        this.#timer = undefined;
        if (this.#waiting.length > 0 || this.isLost) this.#testSoon();
      });
    }, this.#parameters.delayMs);
  }

  async #test(): Promise<void> {
    const { clock, test, onChange } = this.#parameters;
    const begun = clock();
    const isThere = await test().catch(() => false);
    if (isThere) return this.noteAnswer(begun, clock());
    if (!this.isLost) onChange(true);
    this.isLost = true;
    this.#decideAll();
  }

  #decideAll(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { decide } of waiting) decide(true);
  }
}
