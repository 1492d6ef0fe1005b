import { AsyncLocalStorage } from "node:async_hooks";
import type { KeyValueStore } from "tallystick-sdk/store/keyValueStore";

/** A simulated process that ends at one of its writes and does nothing afterwards. */
export type MortalProcess = {
  /** Its store: the write at which it ends is not made, and nothing after it is read or written. */
  store: (store: KeyValueStore) => KeyValueStore;
  /**
   * Cuts its other connections (a fetch, a relay, a chain) after its end: nothing is sent and nothing is
   * received.
   */
  cut: <Args extends unknown[], T>(work: (...args: Args) => T | Promise<T>) => (...args: Args) => Promise<T>;
};

export type EndedFlow<Scene> = {
  /** Opens everything that outlives a process: chain, store, wallets. Each ending gets a new scene. */
  open: () => Promise<Scene>;
  /** The work of the first process. After it is cut off, it may fail in any way. */
  run: (scene: Scene, process: MortalProcess) => Promise<unknown>;
  /** The work of the next process, which starts from the store alone. */
  resume: (scene: Scene) => Promise<unknown>;
  /** Compares money, receipts and budget with the chain. `at` says where the first process ended, for the messages. */
  check: (scene: Scene, at: string) => Promise<void>;
};

/**
 * Ends a process at every single write to its store, one after the other. The flow runs once to its end to count the
 * writes. Then it runs once for each write and is cut off there. Each time the result of the next process is checked.
 * The order of writes may differ from run to run, but each number is tried.
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

/** The timers of a process. They end with it, so that they do not keep the test process running. */
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
  /** A process that has ended reports nothing more, not even an error. */
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
      // A process that is not cut off must finish.
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
