import { AsyncLocalStorage } from "node:async_hooks";
import type { KeyValueStore } from "tallystick-sdk/store/keyValueStore";

/** A process that ends at one of its writes, and never does anything again. */
export type MortalProcess = {
  /** Its store: the write at which it ends is not made, and nothing after it is read or written. */
  store: (store: KeyValueStore) => KeyValueStore;
  /** Cuts its other ways out (a fetch, a relay, a chain) when it has ended: nothing goes out, and nothing comes back. */
  cut: <Args extends unknown[], T>(work: (...args: Args) => T | Promise<T>) => (...args: Args) => Promise<T>;
};

export type EndedFlow<Scene> = {
  /** Everything that outlives a process: chain, store, wallets. One for each ending. */
  open: () => Promise<Scene>;
  /** What the first process does. Cut off it may fail as it likes. */
  run: (scene: Scene, process: MortalProcess) => Promise<unknown>;
  /** What the next process does, rebuilt from the store alone. */
  resume: (scene: Scene) => Promise<unknown>;
  /** Compares money, receipts and budget with the chain. `at` says where the first process ended, for the messages. */
  check: (scene: Scene, at: string) => Promise<void>;
};

/**
 * Ends a process at every single write to its store, in turn: the flow is run once to its end to count them, and then once for
 * each, cut off there; what a next process makes of it is checked each time. The writes of one turn may come in another order
 * than those of the last: what matters is that each number is tried.
 *
 * @returns how many writes there were
 */
export async function endAtEveryWrite<Scene>(flow: EndedFlow<Scene>): Promise<number> {
  const { setTimeout } = globalThis;
  globalThis.setTimeout = noteTimers(setTimeout);
  try {
    const whole = await runOnce(flow, Number.POSITIVE_INFINITY);
    for (let write = 0; write < whole; write++) await runOnce(flow, write);
    return whole;
  } finally {
    globalThis.setTimeout = setTimeout;
  }
}

/** The timers that a process has begun: with it they end, and do not keep the one that runs the tests. */
const timersOf = new AsyncLocalStorage<{ begun: Set<NodeJS.Timeout>; areOver: boolean }>();

function noteTimers(begin: typeof setTimeout): typeof setTimeout {
  const noting = (...args: Parameters<typeof setTimeout>) => {
    const timer = begin(...args);
    const timers = timersOf.getStore();
    if (timers?.areOver) clearTimeout(timer);
    else timers?.begun.add(timer);
    return timer;
  };
  return Object.assign(noting, begin) as typeof setTimeout;
}

async function runOnce<Scene>({ open, run, resume, check }: EndedFlow<Scene>, last: number): Promise<number> {
  const scene = await open();
  let writes = 0;
  let isDead = false;
  const died = Promise.withResolvers<void>();
  /** Of a process that has ended nobody hears again, neither that it failed. */
  const never = (): Promise<never> => new Promise(() => {});
  const alive = async <T>(work: () => T | Promise<T>): Promise<T> => {
    if (isDead) return await never();
    const outcome = await work();
    return isDead ? await never() : outcome;
  };
  const write = async <T>(work: () => Promise<T>): Promise<T> => {
    if (!isDead && writes++ >= last) {
      isDead = true;
      died.resolve();
    }
    return await alive(work);
  };
  const process: MortalProcess = {
    store: (store) => ({
      get: (key) => alive(() => store.get(key)),
      keys: (folder) => alive(() => store.keys(folder)),
      put: (key, value) => write(() => store.put(key, value)),
      putNew: (key, value) => write(() => store.putNew(key, value)),
      delete: (key) => write(() => store.delete(key)),
    }),
    cut:
      (work) =>
      (...args) =>
        alive(() => work(...args)),
  };
  const timers = { begun: new Set<NodeJS.Timeout>(), areOver: false };
  const ran = timersOf
    .run(timers, () => run(scene, process))
    .catch((error: unknown) => {
      // Whom nothing ends has to come to its end.
      if (last === Number.POSITIVE_INFINITY) throw error;
    });
  await Promise.race([ran, died.promise]);
  isDead = true;
  timers.areOver = true;
  for (const timer of timers.begun) clearTimeout(timer);
  await resume(scene);
  await check(scene, last === Number.POSITIVE_INFINITY ? "at no write" : `at write ${last}`);
  return writes;
}
