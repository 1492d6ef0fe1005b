import { Turns } from "./turns.ts";

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
  /** Statements that the database works on at one time; without it there is no limit. */
  statements?: number;
};

/** A client that was quiet may spend at once what it earns in so many seconds. */
const BURST_SECONDS = 10;

/** What a client earns with so many points a minute; 0 for no limit. */
export function pointsAMinute(points: number): Pick<BudgetLimits, "pointsPerSecond" | "burst"> {
  const pointsPerSecond = points / 60;
  return { pointsPerSecond, burst: Math.max(2, pointsPerSecond * BURST_SECONDS) };
}

/** The budget of one client. */
export type ClientBudget = {
  /** Seconds until it may ask again; 0 when it may now. */
  readonly secondsToWait: number;
  /** Points that it owes, since what it asked for cost more than was left; 0 when it owes none. */
  readonly owed: number;
  /** Takes points, also more than are left: what a request cost is known when it is answered. */
  charge: (points: number) => void;
  /**
   * Calls back when the request may be worked on, at once if it may be now; undefined when too many wait already.
   *
   * @returns a function that gives the turn back, also one that has not come; to be called once or more often
   */
  takeTurn: (begin: () => void) => (() => void) | undefined;
  /** For its statements: all of its requests together have but a share of the database's connections. */
  readonly statements: Turns;
  /** Counts a refusal, and tells how many there were since a request of this client was let in. */
  refuse: () => number;
  /** Counts a refusal that is held back until the function it returns is called; undefined when as many are as may be. */
  holdBack: () => (() => void) | undefined;
  /** Counts a stream in until the function it returns is called; undefined when it has as many as it may. */
  openStream: () => (() => void) | undefined;
};

/**
 * Clients are remembered in generations of this many. A client that is silent for two generations is forgotten, and starts
 * again.
 */
const GENERATION = 50_000;

/** Refusals held back for one client at one time; further ones are told at once. */
const MOST_HELD = 64;

/** A client with this share of its burst left asks no faster than it earns, or has only started. */
const LIGHT = 0.8;

/** How long a client that asks for more than it earns lets others go first, in milliseconds. */
const YIELD_MS = 100;

type State = {
  points: number;
  at: number;
  running: number;
  queue: Set<() => void>;
  streams: number;
  refusals: number;
  held: number;
  statements: Turns;
  /** While it lets others go first. */
  yielding: NodeJS.Timeout | undefined;
};

/**
 * A budget for every client: points that come back with time, turns and streams. Points may be owed, up to one burst, so
 * nobody waits longer than it takes to earn two bursts. A client that spends more than it earns has one turn at a time, and
 * begins it while nobody else is served or after 100 ms: so others find no more than one request of its before theirs.
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
  /** Turns of clients that ask for no more than they earn. */
  #lightTurns = 0;
  readonly #yielding = new Set<State>();

  constructor(limits: BudgetLimits, now: () => number, generation = GENERATION) {
    this.#limits = limits;
    this.#now = now;
    this.#generation = generation;
  }

  of(client: string): ClientBudget {
    const state = this.#stateOf(client);
    const { pointsPerSecond, burst } = this.#limits;
    const refresh = () => this.#refresh(state);
    return {
      get secondsToWait() {
        if (pointsPerSecond === 0) return 0;
        refresh();
        return state.points >= 1 ? 0 : Math.ceil((1 - state.points) / pointsPerSecond);
      },
      get owed() {
        if (pointsPerSecond === 0) return 0;
        refresh();
        return Math.max(0, -state.points);
      },
      charge: (points) => {
        if (pointsPerSecond === 0) return;
        refresh();
        state.points = Math.max(-burst, state.points - points);
      },
      takeTurn: (begin) => this.#takeTurn(state, begin),
      refuse: () => ++state.refusals,
      statements: state.statements,
      holdBack: () => {
        if (state.held >= MOST_HELD) return undefined;
        state.held++;
        return once(() => state.held--);
      },
      openStream: () => {
        const { streams } = this.#limits;
        if (streams > 0 && state.streams >= streams) return undefined;
        state.streams++;
        return once(() => state.streams--);
      },
    };
  }

  #refresh(state: State): void {
    const now = this.#now();
    const { pointsPerSecond, burst } = this.#limits;
    // A clock that was set back gives nothing, and takes nothing.
    state.points = Math.min(burst, state.points + Math.max(0, now - state.at) * pointsPerSecond);
    state.at = now;
  }

  #stateOf(client: string): State {
    const recent = this.#recent.get(client);
    if (recent !== undefined) return recent;
    const { statements = Number.POSITIVE_INFINITY } = this.#limits;
    const fresh: State = {
      points: this.#limits.burst,
      at: this.#now(),
      running: 0,
      queue: new Set<() => void>(),
      streams: 0,
      refusals: 0,
      held: 0,
      statements: new Turns(() => (this.#isLight(fresh) ? statements : 1)),
      yielding: undefined,
    };
    const state = this.#earlier.get(client) ?? fresh;
    if (this.#recent.size >= this.#generation) this.#beginGeneration();
    this.#recent.set(client, state);
    return state;
  }

  /** A client with something open is not forgotten: otherwise it could open it twice. */
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
    let isLight = true;
    const run = () => {
      isLight = this.#isLight(state);
      if (isLight) this.#lightTurns++;
      state.running++;
      begin();
    };
    const giveBack = once(() => {
      // One that still waits only leaves the queue.
      if (queue.delete(run)) return;
      state.running--;
      if (isLight) this.#lightTurns--;
      this.#beginNext(state);
      for (const other of this.#lightTurns === 0 ? [...this.#yielding] : []) this.#beginNext(other);
    });
    if (atOnce > 0 && queue.size >= waiting && !this.#mayBegin(state)) return undefined;
    state.refusals = 0;
    queue.add(run);
    this.#beginNext(state);
    return giveBack;
  }

  #isLight(state: State): boolean {
    const { pointsPerSecond, burst } = this.#limits;
    if (pointsPerSecond === 0) return true;
    this.#refresh(state);
    return state.points >= burst * LIGHT;
  }

  #mayBegin(state: State, yielded = false): boolean {
    const { atOnce } = this.#limits;
    if (atOnce === 0) return true;
    if (this.#isLight(state)) return state.running < atOnce;
    return state.running === 0 && (yielded || this.#lightTurns === 0);
  }

  /** Begins what waits for its turn and may have it now. */
  #beginNext(state: State, yielded = false): void {
    for (const next of state.queue) {
      if (!this.#mayBegin(state, yielded)) break;
      state.queue.delete(next);
      next();
    }
    if (state.queue.size > 0 && state.running === 0) {
      this.#yielding.add(state);
      state.yielding ??= setTimeout(() => {
        state.yielding = undefined;
        this.#beginNext(state, true);
      }, YIELD_MS);
    } else if (this.#yielding.delete(state)) {
      clearTimeout(state.yielding);
      state.yielding = undefined;
    }
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
