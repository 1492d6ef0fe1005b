import { holdMs } from "./holdMs.ts";
import { Turns } from "./turns.ts";

/** The limits of one client at a server; 0 for no limit. One point is about the cost of a small answer. */
export type BudgetLimits = {
  /** Points that a client gets back every second. */
  pointsPerSecond: number;
  /** Points that a quiet client may spend at once. */
  burst: number;
  /** Requests that run at the same time. Further requests wait for their turn. */
  atOnce: number;
  /** Requests that may wait. */
  waiting: number;
  /** Open streams: WebSockets and subscriptions. */
  streams: number;
  /** Statements that the database runs at the same time; default no limit. */
  statements?: number;
};

/** A quiet client may spend at once the points of this many seconds. */
const BURST_SECONDS = 10;

/** The limits for a number of points per minute; 0 for no limit. */
export function pointsAMinute(points: number): Pick<BudgetLimits, "pointsPerSecond" | "burst"> {
  const pointsPerSecond = points / 60;
  return { pointsPerSecond, burst: Math.max(2, pointsPerSecond * BURST_SECONDS) };
}

export type ClientBudget = {
  /** Seconds until the client may ask again; 0 if it may ask now. */
  readonly secondsToWait: number;
  /** Points that the client owes, because its requests cost more than it had; 0 if it owes none. */
  readonly owed: number;
  /** Takes points, even more than are left, because the cost of a request is known only after its answer. */
  charge: (points: number) => void;
  /**
   * Calls `begin` when the request may run, possibly at once. Returns undefined if too many requests wait
   * already.
   *
   * @returns a function that gives the turn back, also when the turn has not come yet. It may be called several times
   */
  takeTurn: (begin: () => void) => (() => void) | undefined;
  /**
   * The turns of its database statements. All of its requests together get only a part of the connections.
   */
  readonly statements: Turns;
  /** Counts a request that costs no points. Returns false if the client sends them too fast. */
  countFree: () => boolean;
  /** Counts a refusal. Returns the number of refusals since the client last asked no faster than it earns points. */
  refuse: () => number;
  /**
   * Counts a delayed answer until `release` is called. Returns undefined if too many answers are delayed
   * already.
   *
   * @returns `ms`: how long to delay the answer
   */
  holdBack: () => { ms: number; release: () => void } | undefined;
  /**
   * Counts a stream until the returned function is called. Returns undefined if the client has too many
   * streams already.
   */
  openStream: () => (() => void) | undefined;
};

/**
 * The number of clients in a generation. A client that is silent for two generations is forgotten, and starts
 * with a new budget.
 */
const GENERATION = 50_000;

/** The most delayed answers of one client. Further refusals are sent at once. */
const MAX_HELD = 1_024;

/** Requests without a price that a client may send in a second. A supervisor sends one or two a second. */
const FREE_PER_SECOND = 20;

/**
 * A client with at least this share of its burst is light: it does not ask faster than it earns points, or
 * has just started.
 */
const LIGHT = 0.8;

/**
 * How long a client that is not light lets others go first, in milliseconds. This is also the longest rest between its
 * requests.
 */
const YIELD_MS = 100;

type State = {
  points: number;
  at: number;
  running: number;
  queue: Set<() => void>;
  streams: number;
  refusals: number;
  /** A count of requests without a price. It rises by 1 with each, and falls by {@link FREE_PER_SECOND} each second. */
  free: number;
  freeAt: number;
  held: number;
  statements: Turns;
  /** Set while the client lets others go first. */
  yielding: NodeJS.Timeout | undefined;
  /** Set between two requests of a client that is not light. */
  resting: NodeJS.Timeout | undefined;
};

/**
 * A budget for every client: points that come back with time, turns and streams. A client may owe points, up to one
 * burst. So nobody waits longer than the time in which a client earns two bursts. A client that spends more than it
 * earns has one turn at a time. The turn begins when nobody else is served, or after 100 ms. So other clients wait for
 * at most one request of such a client. After each request such a client rests as long as the request took. So it uses
 * at most half of the server's time, even when nobody else asks. The next client does not wait behind a pile of its
 * work.
 *
 * @param now the time in seconds
 */
export class ClientBudgets {
  readonly #limits: BudgetLimits;
  readonly #now: () => number;
  readonly #generation: number;
  /**
   * There are two maps, one for each generation. Looking into two maps is much cheaper than reordering a
   * single large one.
   */
  #recent = new Map<string, State>();
  #earlier = new Map<string, State>();
  /** The running turns of light clients. */
  #lightTurns = 0;
  /** The clients that let others go first, and do not rest. */
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
      countFree: () => this.#countFree(state),
      refuse: () => ++state.refusals,
      statements: state.statements,
      holdBack: () => {
        if (state.held >= MAX_HELD) return undefined;
        const ms = holdMs(state.held++);
        return { ms, release: once(() => state.held--) };
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
    // If the clock was set back, points stay as they are.
    state.points = Math.min(burst, state.points + Math.max(0, now - state.at) * pointsPerSecond);
    state.at = now;
  }

  #countFree(state: State): boolean {
    if (this.#limits.pointsPerSecond === 0) return true;
    const now = this.#now();
    state.free = Math.max(0, state.free - Math.max(0, now - state.freeAt) * FREE_PER_SECOND);
    state.freeAt = now;
    if (state.free + 1 > FREE_PER_SECOND) return false;
    state.free++;
    return true;
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
      free: 0,
      freeAt: this.#now(),
      held: 0,
      statements: new Turns(() => (this.#isLight(fresh) ? statements : 1)),
      yielding: undefined,
      resting: undefined,
    };
    const state = this.#earlier.get(client) ?? fresh;
    if (this.#recent.size >= this.#generation) this.#beginGeneration();
    this.#recent.set(client, state);
    return state;
  }

  /**
   * Starts a new generation. A client with open turns or streams is kept, because otherwise it could open
   * them again.
   */
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
    let began = 0;
    const run = () => {
      isLight = this.#isLight(state);
      if (isLight) this.#lightTurns++;
      state.running++;
      began = this.#now();
      begin();
    };
    const giveBack = once(() => {
      // A request that still waits is only removed from the queue.
      if (queue.delete(run)) return;
      state.running--;
      if (isLight) this.#lightTurns--;
      if (!this.#isLight(state)) this.#rest(state, 1_000 * (this.#now() - began));
      this.#beginNext(state);
      for (const other of this.#lightTurns === 0 ? [...this.#yielding] : []) this.#beginNext(other);
    });
    if (atOnce > 0 && queue.size >= waiting && !this.#mayBegin(state)) return undefined;
    // A client that floods gets an answer now and then. Such an answer must not set its refusals to 0, because its
    // refusals would then be prompt again.
    if (this.#isLight(state)) state.refusals = 0;
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
    if (state.running > 0 || state.resting !== undefined) return false;
    return yielded || this.#lightTurns === 0;
  }

  /** Starts no request of a client for `ms` milliseconds, unless it becomes light. */
  #rest(state: State, ms: number): void {
    if (this.#limits.atOnce === 0 || !(ms > 0)) return;
    clearTimeout(state.resting);
    state.resting = setTimeout(
      () => {
        state.resting = undefined;
        this.#beginNext(state);
      },
      Math.min(ms, YIELD_MS),
    );
  }

  /** Starts the waiting requests that may run now. */
  #beginNext(state: State, yielded = false): void {
    for (const next of state.queue) {
      if (!this.#mayBegin(state, yielded)) break;
      state.queue.delete(next);
      next();
    }
    if (state.queue.size > 0 && state.running === 0) {
      // The end of a rest tries the resting client again. The end of a turn does not try resting clients, because many
      // of them would cost much time.
      if (state.resting === undefined) this.#yielding.add(state);
      state.yielding ??= setTimeout(() => {
        state.yielding = undefined;
        this.#beginNext(state, true);
      }, YIELD_MS);
    } else {
      this.#yielding.delete(state);
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
