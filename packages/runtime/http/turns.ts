import { AsyncLocalStorage } from "node:async_hooks";

const scope = new AsyncLocalStorage<Turns>();

/** Lets some pieces of work run at one time, and the others in the order in which they came. */
export class Turns {
  readonly #most: () => number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** @param most how many may run now; asked again before each begins */
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
      // The place goes to the next in line, unless fewer may run by now; one always may.
      if (this.#waiting.length > 0 && (this.#running <= this.#most() || this.#running === 1))
        this.#waiting.shift()?.();
      else this.#running--;
    }
  }
}

/** What is begun by `run` works in these turns, wherever it asks for its own. */
export function inTurnsOf<T>(turns: Turns, run: () => T): T {
  return scope.run(turns, run);
}

/** Does work in the turns of its client; at once without a client. */
export function inItsTurn<T>(work: () => Promise<T>): Promise<T> {
  return scope.getStore()?.run(work) ?? work();
}
