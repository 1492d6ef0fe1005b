import type { KeyValueStore } from "../store/keyValueStore.ts";
import { unlessDamaged } from "../store/unlessDamaged.ts";

/** How long a seller that failed is tried only after all others, in milliseconds. */
const AVOID_MS = 3_600_000;

/** The most sellers that are remembered. When there are so many, a new failure is not stored. */
const MAX_AVOIDED = 1_000;

/** Sellers that failed, or did not answer, in the last hour: they are tried last. */
export type AvoidedSellers = {
  /** Their addresses. */
  now: () => Promise<Set<string>>;
  add: (agent: string) => Promise<void>;
  /** Forgets the failure of a seller that has delivered since. */
  remove: (agent: string) => Promise<void>;
};

/** Stores these sellers under `avoid/`, so that the next process knows them too. */
export function avoidedSellers(store: KeyValueStore, now: () => number): AvoidedSellers {
  const keyOf = (agent: string): string => `avoid/${agent}`;
  return {
    now: async () => {
      const avoided = new Set<string>();
      for (const key of await store.keys("avoid")) {
        // A damaged record is forgotten. Any other error may pass, and stops no hire.
        try {
          const since = await unlessDamaged(store.get<number>(key));
          if (since !== undefined && now() - since < AVOID_MS) avoided.add(key.slice("avoid/".length));
          else await store.delete(key);
        } catch {}
      }
      return avoided;
    },
    add: async (agent) => {
      if ((await store.keys("avoid")).length < MAX_AVOIDED) await store.put(keyOf(agent), now());
    },
    remove: (agent) => store.delete(keyOf(agent)),
  };
}
