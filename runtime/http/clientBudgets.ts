/** What one client may ask of a server; 0 for no limit. A point is about what a small answer costs. */
export type BudgetLimits = {
  /** Given back every second. */
  pointsPerSecond: number;
  /** What a client that was quiet may spend at once. */
  burst: number;
  /** Requests worked on at one time; further ones wait for their turn. */
  atOnce: number;
  /** Requests that may wait so. */
  waiting: number;
  /** Streams open at one time: WebSockets and subscriptions. */
  streams: number;
};

/** The budget of one client. */
export type ClientBudget = {
  /** Seconds until it may ask again; 0 when it may now. */
  readonly secondsToWait: number;
  /** Takes points, also more than are left: what a request cost is known when it is answered. */
  charge: (points: number) => void;
  /**
   * Calls back when the request may be worked on, at once if it may be now; undefined when too many wait already.
   *
   * @returns a function that gives the turn back, also one that has not come; to be called once or more often
   */
  takeTurn: (begin: () => void) => (() => void) | undefined;
  /** Counts a stream in until the function it returns is called; undefined when it has as many as it may. */
  openStream: () => (() => void) | undefined;
};

/** Clients heard of since this many others were; whoever is not heard of for as many again is forgotten, and begins anew. */
const GENERATION = 50_000;

type State = { points: number; at: number; running: number; queue: Set<() => void>; streams: number };

/**
 * A budget for every client: points that come back with time, turns and streams. Points may be owed, up to one burst, so
 * nobody waits longer than it takes to earn two bursts.
 *
 * @param now the time in seconds
 */
export class ClientBudgets {
  readonly #limits: BudgetLimits;
  readonly #now: () => number;
  readonly #generation: number;
  /** Two generations: to put one client behind the others in a single large Map costs far more than a look into two. */
  #recent = new Map<string, State>();
  #earlier = new Map<string, State>();

  constructor(limits: BudgetLimits, now: () => number, generation = GENERATION) {
    this.#limits = limits;
    this.#now = now;
    this.#generation = generation;
  }

  of(client: string): ClientBudget {
    const state = this.#stateOf(client);
    const { pointsPerSecond, burst } = this.#limits;
    const refresh = () => {
      const now = this.#now();
      // A clock that was set back gives nothing, and takes nothing.
      state.points = Math.min(burst, state.points + Math.max(0, now - state.at) * pointsPerSecond);
      state.at = now;
    };
    return {
      get secondsToWait() {
        if (pointsPerSecond === 0) return 0;
        refresh();
        return state.points >= 1 ? 0 : Math.ceil((1 - state.points) / pointsPerSecond);
      },
      charge: (points) => {
        if (pointsPerSecond === 0) return;
        refresh();
        state.points = Math.max(-burst, state.points - points);
      },
      takeTurn: (begin) => this.#takeTurn(state, begin),
      openStream: () => {
        const { streams } = this.#limits;
        if (streams > 0 && state.streams >= streams) return undefined;
        state.streams++;
        return once(() => state.streams--);
      },
    };
  }

  #stateOf(client: string): State {
    const recent = this.#recent.get(client);
    if (recent !== undefined) return recent;
    const fresh = {
      points: this.#limits.burst,
      at: this.#now(),
      running: 0,
      queue: new Set<() => void>(),
      streams: 0,
    };
    const state = this.#earlier.get(client) ?? fresh;
    if (this.#recent.size >= this.#generation) this.#beginGeneration();
    this.#recent.set(client, state);
    return state;
  }

  /** Whoever has something open is not forgotten: else it could have it twice. */
  #beginGeneration(): void {
    const kept = [...this.#earlier].filter(
      ([, { running, queue, streams }]) => running > 0 || queue.size > 0 || streams > 0,
    );
    this.#earlier = this.#recent;
    this.#recent = new Map();
    for (const [client, state] of kept) if (!this.#earlier.has(client)) this.#earlier.set(client, state);
  }

  #takeTurn(state: State, begin: () => void): (() => void) | undefined {
    const { atOnce, waiting } = this.#limits;
    const { queue } = state;
    const run = () => {
      state.running++;
      begin();
    };
    const giveBack = once(() => {
      // One that still waits only leaves the queue.
      if (queue.delete(run)) return;
      state.running--;
      for (const next of queue) {
        queue.delete(next);
        next();
        return;
      }
    });
    if (atOnce === 0 || state.running < atOnce) run();
    else if (queue.size < waiting) queue.add(run);
    else return undefined;
    return giveBack;
  }
}

function once(run: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    run();
  };
}
