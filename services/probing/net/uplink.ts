export type UplinkParameters = {
  /** Tests whether something other than the probed hosts can be reached now. */
  test: () => Promise<boolean>;
  /**
   * How long a failure waits for an answer of another host. Then the uplink is tested. This is also the time between
   * two tests.
   */
  delayMs: number;
  /** Milliseconds that never go back. */
  clock: () => number;
  /** Called when the uplink is lost, and when it is back. */
  onChange: (isLost: boolean) => void;
};

type Waiting = { ended: number; decide: (isOurs: boolean) => void };

/** The most failures that wait for proof. Above this number the oldest count as the prober's own. */
const MAX_WAITING = 20_000;

/**
 * Distinguishes a host that is down from a prober that is cut off. A failure counts for the host if a later request to
 * any host was answered, and the uplink was not lost in between. Otherwise it is the prober's own failure and is not
 * recorded (STEWARD, T029).
 */
export class Uplink {
  readonly #parameters: UplinkParameters;
  #waiting: Waiting[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** A failed request that began before this time proves nothing. */
  #lostUntil = Number.NEGATIVE_INFINITY;
  isLost = false;

  constructor(parameters: UplinkParameters) {
    this.#parameters = parameters;
  }

  /** Notes an answer to a request that began at `begun`. */
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
   * Notes a failure. Resolves when its cause is known.
   *
   * @returns whether the failure is the prober's own
   */
  async isOurs(begun: number, ended: number): Promise<boolean> {
    if (this.#isClosed || this.isLost || begun < this.#lostUntil) return true;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#waiting.push({ ended, decide: resolve });
    if (this.#waiting.length > MAX_WAITING) this.#waiting.shift()?.decide(true);
    this.#testSoon();
    return promise;
  }

  /** Stops testing. Waiting failures count as the prober's own. */
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
