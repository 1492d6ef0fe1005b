export type PacerParameters = {
  /** The most requests that begin in any second. */
  perSecond: number;
  /** The most requests that wait. Further requests are not sent. */
  maxWaiting?: number;
  /** Milliseconds that never go back. */
  now?: () => number;
};

type Job = { key: string; isUrgent: boolean; isWanted: () => boolean; start: () => void; drop: () => void };

/** The most waiting requests. One takes a few hundred bytes. */
const MAX_WAITING = 50_000;

/**
 * Limits requests: a maximum in any second, and one at a time for each key, which is an IP address. Urgent
 * requests go first at their address, so hosts that hang cannot take the turns of other hosts at the same
 * address.
 */
export class Pacer {
  readonly #parameters: Required<PacerParameters>;
  readonly #ready: Job[] = [];
  readonly #busy = new Map<string, Job[]>();
  /** The times at which the last requests began, the oldest first. */
  readonly #begun: number[] = [];
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(parameters: PacerParameters) {
    this.#parameters = { maxWaiting: MAX_WAITING, now: () => performance.now(), ...parameters };
  }

  /** Requests that wait for their turn. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Runs the work when its turn comes.
   *
   * @param isWanted called when the turn comes. If it returns false, the work is not done
   * @returns the result of the work; undefined if it was not done
   */
  async run<T>(
    { key, isUrgent, isWanted }: Pick<Job, "key" | "isUrgent" | "isWanted">,
    work: () => Promise<T>,
  ): Promise<T | undefined> {
    if (this.#waiting >= this.#parameters.maxWaiting) return undefined;
    const turn = Promise.withResolvers<boolean>();
    this.#add({ key, isUrgent, isWanted, start: () => turn.resolve(true), drop: () => turn.resolve(false) });
    if (!(await turn.promise)) return undefined;
    try {
      return await work();
    } finally {
      this.#free(key);
    }
  }

  /** Drops all waiting work. */
  close(): void {
    clearTimeout(this.#timer);
    const waiting = [...this.#ready.splice(0), ...[...this.#busy.values()].flatMap((jobs) => jobs.splice(0))];
    this.#waiting = 0;
    for (const { drop } of waiting) drop();
  }

  #add(job: Job): void {
    this.#waiting++;
    const others = this.#busy.get(job.key);
    if (others === undefined) {
      this.#busy.set(job.key, []);
      this.#ready.push(job);
      this.#letOut();
    } else if (job.isUrgent) {
      const at = others.findIndex(({ isUrgent }) => !isUrgent);
      others.splice(at < 0 ? others.length : at, 0, job);
    } else others.push(job);
  }

  /** Gives an address to the next request that waits for it. */
  #free(key: string): void {
    const next = this.#busy.get(key)?.shift();
    if (next === undefined) this.#busy.delete(key);
    else {
      this.#ready.push(next);
      this.#letOut();
    }
  }

  #letOut(): void {
    const { perSecond, now } = this.#parameters;
    while (this.#ready.length > 0) {
      const [oldest] = this.#begun;
      const wait = this.#begun.length < perSecond || oldest === undefined ? 0 : oldest + 1_000 - now();
      if (wait > 0) {
        this.#timer ??= setTimeout(() => {
          this.#timer = undefined;
          this.#letOut();
        }, Math.ceil(wait));
        return;
      }
      const job = this.#ready.shift() as Job;
      this.#waiting--;
      if (!job.isWanted()) {
        job.drop();
        this.#free(job.key);
        continue;
      }
      if (this.#begun.length >= perSecond) this.#begun.shift();
      this.#begun.push(now());
      job.start();
    }
  }
}
