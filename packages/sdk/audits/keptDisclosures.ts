import type { Disclosure } from "tallystick-protocol/audits/disclosure";
import { isHex } from "tallystick-protocol/hex";
import type { KeyValueStore } from "../store/keyValueStore.ts";

/** How long an audit may wait for an auditor, in seconds: the default of `params.audit.disclosureSeconds`. */
const DISCLOSURE_SECONDS = 1_209_600;

/**
 * How much longer the work is kept, in seconds. A hire may be drawn a day after its payment, and the auditor that is
 * assigned last may ask for a day. The third day is a reserve.
 */
const MORE_SECONDS = 3 * 86_400;

const DAY_MS = 86_400_000;

/** How often old work is looked for, in milliseconds. */
const SWEEP_MS = 3_600_000;

type Kept = Disclosure & { until: number };

/**
 * The work that auditors may ask for, by hire id. In the store, `disclosure/` has the work, and `expiry/` has the
 * last day on which it is kept.
 */
export type KeptDisclosures = {
  /**
   * Stores the work of a hire. Safe to repeat. Does nothing if the hire id is not a 32-byte hash.
   *
   * @param openUntil until when the hire's escrow may hold money, in milliseconds since 1970. A refund until then may be
   * audited, so the work is kept from this time on. Default: now
   */
  keep: (hireId: string, disclosure: Disclosure, openUntil?: number) => Promise<void>;
  find: (hireId: string) => Promise<Disclosure | undefined>;
  /** Forgets old work, at most once an hour. */
  sweep: () => Promise<void>;
};

/**
 * Keeps the requests and results of hires as long as auditors may ask for them.
 *
 * @param parameters.seconds how long an audit may wait for an auditor; the work is kept {@link MORE_SECONDS} longer
 * @param parameters.now milliseconds since 1970
 */
export function keptDisclosures(parameters: {
  store: KeyValueStore;
  seconds?: number | undefined;
  now: () => number;
}): KeptDisclosures {
  const { store, seconds = DISCLOSURE_SECONDS, now } = parameters;
  let sweptAt = Number.NEGATIVE_INFINITY;

  async function sweep(): Promise<void> {
    if (now() - sweptAt < SWEEP_MS) return;
    sweptAt = now();
    const today = Math.floor(now() / DAY_MS);
    // The day is in the key, so old work is found without reading anything large.
    for (const key of await store.keys("expiry")) {
      const [, day, hireId] = /^expiry\/(\d+)\.(0x[0-9a-f]{64})$/.exec(key) ?? [];
      if (day === undefined || Number(day) >= today) continue;
      await store.delete(`disclosure/${hireId}`);
      await store.delete(key);
    }
  }

  return {
    keep: async (hireId, disclosure, openUntil = 0) => {
      if (!isHex(hireId, 32)) return;
      const until = Math.max(now(), openUntil) + (seconds + MORE_SECONDS) * 1000;
      // The day is stored first. So the work is deleted some day even if this process ends between the two writes.
      await store.put(`expiry/${Math.floor(until / DAY_MS)}.${hireId}`, until);
      await store.put(`disclosure/${hireId}`, { ...disclosure, until } satisfies Kept);
      await sweep();
    },
    find: async (hireId) => {
      const kept = isHex(hireId, 32) ? await store.get<Kept>(`disclosure/${hireId}`) : undefined;
      if (kept === undefined || kept.until <= now()) return undefined;
      return { request: kept.request, result: kept.result };
    },
    sweep,
  };
}
