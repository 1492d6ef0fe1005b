import type { KeyValueStore } from "tallystick-sdk/store/keyValueStore";
import { unlessDamaged } from "tallystick-sdk/store/unlessDamaged";

/** How long the id of a notice is remembered, in seconds: longer than its event is announced. */
const REMEMBERED_SECONDS = 30 * 86_400;

/** The least number of notes that one look for old notes reads, and the number of looks in which it reads all of them. */
const MIN_READ = 2_000;
const LOOKS = 24;

/** The ids of the notices that were sent or given up. */
export type SentNotices = {
  /** Whether this notice must not be made again. A damaged note counts too. */
  has: (id: string) => Promise<boolean>;
  /** @param at unix seconds */
  note: (id: string, how: string, at: number) => Promise<void>;
  /**
   * Deletes notes that are so old that no node's step can make their notices again: the step is from before the note, and is
   * no longer announced. Reads a part of the notes, and the next time the next part.
   */
  forget: () => Promise<void>;
};

/** @param passed a time that has surely passed, in unix seconds */
export function sentNotices(store: KeyValueStore, passed: () => number): SentNotices {
  const keyOf = (id: string): string => `sent/${id}`;
  /** The first note that the next look reads. */
  let next: string | undefined;
  return {
    has: async (id) => {
      let isDamaged = false;
      const note = await unlessDamaged(store.get(keyOf(id)), () => {
        isDamaged = true;
      });
      return isDamaged || note !== undefined;
    },
    note: async (id, how, at) => {
      await store.putNew(keyOf(id), { how, at });
    },
    forget: async () => {
      const keys = (await store.keys("sent")).sort();
      // A process that is started again begins elsewhere. Otherwise it might never read the last of many notes.
      const first = next ?? keys[Math.floor(Math.random() * keys.length)] ?? "";
      const ahead = keys.filter((key) => key >= first);
      const inTurn = [...ahead, ...keys.slice(0, keys.length - ahead.length)];
      const count = Math.max(MIN_READ, Math.ceil(keys.length / LOOKS));
      next = inTurn[count] ?? inTurn[0];
      for (const key of inTurn.slice(0, count)) {
        const note = await unlessDamaged(store.get<{ at: number }>(key));
        if (note !== undefined && note.at < passed() - REMEMBERED_SECONDS) await store.delete(key);
      }
    },
  };
}
