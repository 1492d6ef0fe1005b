import { AsyncLocalStorage } from "node:async_hooks";

const scope = new AsyncLocalStorage<{ turns: Turns; onWork: () => void }>();

/** Limits how many pieces of work run at the same time. Other work waits in the order in which it came. */
export class Turns {
  readonly #most: () => number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** @param most returns the present limit; it is called again before each piece of work */
  constructor(most: () => number) {
    this.#most = most;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#waiting.length > 0 || !this.#mayBegin()) {
      await new Promise<void>((begin) => this.#waiting.push(begin));
    } else this.#running++;
    try {
      return await work();
    } finally {
      this.#running--;
      // The limit may have changed. If it has become larger, several pieces of work start.
      while (this.#waiting.length > 0 && this.#mayBegin()) {
        this.#running++;
        this.#waiting.shift()?.();
      }
    }
  }

  /** At least one piece of work may always run. */
  #mayBegin(): boolean {
    return this.#running < Math.max(1, this.#most());
  }
}

/**
 * Sets the turns for everything that `run` starts. `inItsTurn` uses them.
 *
 * @param onWork called before each piece of work; default nothing
 */
export function inTurnsOf<T>(turns: Turns, run: () => T, onWork: () => void = () => {}): T {
  return scope.run({ turns, onWork }, run);
}

/** Runs work that serves all clients. The work uses no client's turns, even if a client started the work. */
export function outOfTurns<T>(run: () => T): T {
  return scope.exit(run);
}

/** Runs work in the turns of its client; without a client it runs at once. */
export function inItsTurn<T>(work: () => Promise<T>): Promise<T> {
  const store = scope.getStore();
  store?.onWork();
  return store?.turns.run(work) ?? work();
}
