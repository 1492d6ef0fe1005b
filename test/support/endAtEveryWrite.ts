import { AsyncLocalStorage } from "node:async_hooks";
import type { KeyValueStore } from "tallystick-sdk/store/keyValueStore";

/** A simulated process. It ends at one of its writes, and does nothing afterwards. */
export type MortalProcess = {
  /** Gives the process a store. The write at which the process ends is not made. After it nothing is read or written. */
  store: (store: KeyValueStore) => KeyValueStore;
  /**
   * Wraps another connection of the process, such as a fetch, a relay or a chain. After the end of the process the
   * connection sends and receives nothing.
   */
  cut: <Args extends unknown[], T>(work: (...args: Args) => T | Promise<T>) => (...args: Args) => Promise<T>;
};

export type EndedFlow<Scene> = {
  /** Opens everything that remains after a process ends: chain, store, wallets. Each run gets a new scene. */
  open: () => Promise<Scene>;
  /** The work of the first process. After its end it may fail in any way. */
  run: (scene: Scene, process: MortalProcess) => Promise<unknown>;
  /** The work of the next process, which has only the store. */
  resume: (scene: Scene) => Promise<unknown>;
  /** Checks the result, such as money, receipts and budget. `at` says for the messages where the first process ended. */
  check: (scene: Scene, at: string) => Promise<void>;
};

/**
 * Ends a process at each of its writes to the store. The flow first runs to its end, to count the writes. Then it runs
 * once for each write, and ends there. After each run the next process works, and its result is checked. The order of
 * the writes may differ between runs.
 *
 * @returns the number of writes
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

/** The timers of a simulated process. They are cleared at its end, so that they do not keep the test process running. */
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
  /** A promise for calls after the end. They never return, not even with an error. */
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
      // The process that is not ended early must not fail.
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
