import type { Address } from "tallystick-protocol/address";
import type { KeyValueStore } from "../store/keyValueStore.ts";

/** Whether a buyer has hired a capability of this seller before, by the indexer's history (SHP §11). */
export type HasHired = (buyer: Address, capability: string) => Promise<boolean>;

export type FreeCallsParameters = {
  store: KeyValueStore;
  /**
   * The most free calls a day, for all buyers together. There must be a limit, because wallets are cheap.
   * Default 1,000.
   */
  perDay?: number;
  /** Asked in addition to the store. If it fails, the answer counts as "yes". */
  hasHired?: HasHired | undefined;
  /** Milliseconds since 1970. */
  now: () => number;
};

export type FreeCalls = {
  /**
   * Uses up the buyer's only free call of a capability, and returns whether it was left. This is remembered
   * permanently.
   */
  take: (buyer: Address, capability: string) => Promise<boolean>;
  /** Remembers a buyer whose call was completed: its next call is not its first. */
  see: (buyer: Address, capability: string) => Promise<void>;
  /**
   * Gives the call back, because the work failed. It stays used up if another call of the buyer was completed
   * meanwhile.
   */
  giveBack: (buyer: Address, capability: string) => Promise<void>;
};

const DAY_MS = 86_400_000;

/** The files of a day are kept so many days, in case the clock goes back. The most that are deleted at once. */
const KEPT_DAYS = 7;
const MAX_DELETED = 10_000;

/** Stored for a buyer whose call was completed. While a free call runs, its time is stored instead. */
const DONE = "done";

/**
 * Free first calls (SHP §11): one for each buyer and capability, and a limited number a day. Each is stored
 * before it is given.
 */
export function createFreeCalls({ store, perDay = 1_000, hasHired, now }: FreeCallsParameters): FreeCalls {
  const keyOf = (buyer: Address, capability: string) => `seen/${buyer}-${capability}`;

  /** Deletes the numbers of old days. Nobody can take them any more. */
  async function forgetDaysBefore(day: number): Promise<void> {
    const dayOf = (key: string): number => Number(/^free\/(\d+)/.exec(key)?.[1] ?? day);
    const old = (await store.keys("free")).filter((key) => dayOf(key) < day);
    // More than a day adds, so that files that are left over disappear too.
    for (const key of old.slice(0, Math.max(MAX_DELETED, 2 * perDay))) await store.delete(key);
  }

  /** Takes the next unused number of today's calls, in one atomic step. Returns false when all are used. */
  async function takeToday(): Promise<boolean> {
    const day = Math.floor(now() / DAY_MS);
    const last = (await store.get<number>(`free/${day}`)) ?? 0;
    // Files that stay because the disk fails are deleted tomorrow.
    if (last === 0) await forgetDaysBefore(day - KEPT_DAYS).catch(() => {});
    for (let number = last + 1; number <= perDay; number++) {
      if (!(await store.putNew(`free/${day}-${number}`, true))) continue;
      await store.put(`free/${day}`, number);
      return true;
    }
    return false;
  }

  /** Lets a buyer have its free call again, unless another call of the buyer was completed meanwhile. */
  async function giveBack(key: string): Promise<void> {
    if ((await store.get(key)) !== DONE) await store.delete(key);
  }

  return {
    take: async (buyer, capability) => {
      const key = keyOf(buyer, capability);
      if ((await store.get(key)) !== undefined) return false;
      if (await hasHired?.(buyer, capability).catch(() => true)) return false;
      // First the buyer's call, then one of the day: copies of a request that come together use up one of the day.
      if (!(await store.putNew(key, now()))) return false;
      let isTaken = false;
      try {
        isTaken = await takeToday();
      } finally {
        if (!isTaken) await giveBack(key);
      }
      return isTaken;
    },
    see: (buyer, capability) => store.put(keyOf(buyer, capability), DONE),
    giveBack: (buyer, capability) => giveBack(keyOf(buyer, capability)),
  };
}
