import type { Hex } from "tallystick-protocol/hex";
import type { KeyValueStore } from "../store/keyValueStore.ts";

/** The most own deposits that are remembered. The oldest are forgotten first. */
const MAX_OWN = 10_000;

/** As it is on disk: when the deposit was noted, in unix milliseconds. */
type Stored = { at: number };

export type OwnDeposits = Awaited<ReturnType<typeof openOwnDeposits>>;

/**
 * The hires that a keeper deposits, by the ids of their escrows. They are in its store until their delivery is marked or
 * they end.
 */
export async function openOwnDeposits(store: KeyValueStore, now: () => number) {
  const keyOf = (id: Hex): string => `deposited/${id}`;
  const kept: { id: Hex; at: number }[] = [];
  for (const key of await store.keys("deposited")) {
    // A file that cannot be read must not stop the keeper. Its deposit still counts as the keeper's own.
    const at = (await store.get<Stored>(key).catch(() => undefined))?.at ?? 0;
    kept.push({ id: key.slice("deposited/".length) as Hex, at });
  }
  /** The oldest first. */
  const own = new Set(kept.sort((a, b) => a.at - b.at).map(({ id }) => id));

  async function forget(id: Hex): Promise<void> {
    if (!own.has(id)) return;
    await store.delete(keyOf(id));
    own.delete(id);
  }

  return {
    has: (id: Hex): boolean => own.has(id),
    /** The note is on the disk when the promise resolves. Returns whether it is new. */
    add: async (id: Hex): Promise<boolean> => {
      if (own.has(id)) return false;
      await store.put(keyOf(id), { at: now() } satisfies Stored);
      own.add(id);
      for (const oldest of own) {
        if (own.size <= MAX_OWN) break;
        await forget(oldest);
      }
      return true;
    },
    forget,
  };
}
