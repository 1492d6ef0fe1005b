import type { Hire } from "tallystick-protocol/escrow/hire";
import { type HireJson, readHireJson, toHireJson } from "tallystick-protocol/escrow/hireJson";
import type { Hex } from "tallystick-protocol/hex";
import type { KeyValueStore } from "../store/keyValueStore.ts";
import type { EscrowCalls } from "./escrowCalls.ts";
import { SURE_MS } from "./keeperInstructions.ts";

/**
 * A deposit that is watched. `settledAt` is when the chain showed that its escrow is settled, in unix milliseconds. A
 * reorganization may undo the settlement, and no later event shows the deposit again. So the chain is asked once more
 * after {@link SURE_MS}, before the deposit is forgotten.
 */
export type Watched = { hire: Hire; settledAt?: number };

/** As it is on disk. */
type Stored = HireJson & { settledAt?: number };

/** How many permanently settled deposits are remembered. The chain is asked about others when it lists them again. */
const MAX_OVER = 50_000;

/** The deposits that a keeper watches, kept in the store. */
export function createWatchedDeposits(parameters: {
  calls: Pick<EscrowCalls, "idOf">;
  store: KeyValueStore;
  /** Milliseconds since 1970. */
  now: () => number;
  /** Called when an escrow has ended for certain, or never was, before its deposit is forgotten. */
  onEnd: (id: Hex) => Promise<void>;
  log: (sentence: string, details?: { [key: string]: unknown }) => void;
}) {
  const { calls, store, now, onEnd, log } = parameters;
  /** By their keys in the store; filled from there before the first round. */
  let watched: Map<string, Watched> | undefined;
  /**
   * Permanently settled deposits, which are not watched. Recent blocks list them again and again, so this set is
   * needed.
   */
  const over = new Set<string>();
  const keyOf = (hire: Hire): string => `watch/${calls.idOf(hire)}`;

  async function load(): Promise<Map<string, Watched>> {
    const all = new Map<string, Watched>();
    for (const key of await store.keys("watch")) {
      try {
        const stored = await store.get<Stored>(key);
        if (!stored) continue;
        const { settledAt, ...json } = stored;
        all.set(key, watchedOf(readHireJson(json), settledAt));
      } catch (error) {
        // One file that cannot be read must not stop the others.
        log("A deposit cannot be read and is left where it is.", { key, error: String(error) });
      }
    }
    return all;
  }

  /** The deposit is on the disk when the promise resolves. */
  async function put(key: string, hire: Hire, settledAt?: number): Promise<void> {
    const stored: Stored = { ...toHireJson(hire), ...(settledAt !== undefined && { settledAt }) };
    await store.put(key, stored);
    watched?.set(key, watchedOf(hire, settledAt));
  }

  function rememberOver(key: string): void {
    if (over.size >= MAX_OVER) over.clear();
    over.add(key);
  }

  async function forget(key: string): Promise<void> {
    await onEnd(key.slice("watch/".length) as Hex);
    watched?.delete(key);
    await store.delete(key);
  }

  return {
    /** All watched deposits by their keys. If the store fails, the next call tries again. */
    all: async (): Promise<ReadonlyMap<string, Watched>> => (watched ??= await load()),
    /** Whether a deposit is watched, or is permanently settled. */
    isKnown: (hire: Hire): boolean => {
      const key = keyOf(hire);
      return watched?.has(key) || over.has(key);
    },
    add: (hire: Hire, isSettled: boolean): Promise<void> =>
      put(keyOf(hire), hire, isSettled ? now() : undefined),
    /** The deposit is settled for good, so it is not watched. */
    leaveOut: async (hire: Hire): Promise<void> => {
      await onEnd(calls.idOf(hire));
      rememberOver(keyOf(hire));
    },
    forget,
    /** The chain shows that an escrow is settled. When it shows so again {@link SURE_MS} later, this is certain. */
    seeSettled: async (key: string): Promise<void> => {
      const it = watched?.get(key);
      if (it === undefined) return;
      if (it.settledAt === undefined) return await put(key, it.hire, now());
      if (it.settledAt + SURE_MS > now()) return;
      await forget(key);
      rememberOver(key);
    },
    /** The chain shows that an escrow is held. If it was settled, a reorganization has undone that. */
    seeHeld: async (key: string): Promise<void> => {
      const it = watched?.get(key);
      if (it?.settledAt === undefined) return;
      log("A reorganization has undone the end of an escrow, which is watched again.", { key });
      await put(key, it.hire);
    },
  };
}

export type WatchedDeposits = ReturnType<typeof createWatchedDeposits>;

function watchedOf(hire: Hire, settledAt: number | undefined): Watched {
  return { hire, ...(settledAt !== undefined && { settledAt }) };
}
