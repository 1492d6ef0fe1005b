import { AsyncLocalStorage } from "node:async_hooks";

const scope = new AsyncLocalStorage<Turns>();

/** Limits how many pieces of work run at the same time. The others wait in the order in which they came. */
export class Turns {
  readonly #most: () => number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** @param most returns the present limit; it is called again before each piece of work */
  constructor(most: () => number) {
    this.#most = most;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#most() || this.#waiting.length > 0)
      await new Promise<void>((begin) => this.#waiting.push(begin));
    else this.#running++;
    try {
      return await work();
    } finally {
      // The next one in the queue starts, unless the limit has become smaller. At least one may always run.
      if (this.#waiting.length > 0 && (this.#running <= this.#most() || this.#running === 1))
        this.#waiting.shift()?.();
      else this.#running--;
    }
  }
}

/** Sets the turns for everything that `run` starts. `inItsTurn` uses them. */
export function inTurnsOf<T>(turns: Turns, run: () => T): T {
  return scope.run(turns, run);
}

/** Runs work that all clients share outside of the turns of the client that started it. */
export function outOfTurns<T>(run: () => T): T {
  return scope.exit(run);
}

/** Runs work in the turns of its client; without a client it runs at once. */
export function inItsTurn<T>(work: () => Promise<T>): Promise<T> {
  return scope.getStore()?.run(work) ?? work();
}
