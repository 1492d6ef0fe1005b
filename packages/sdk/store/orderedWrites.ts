import type { KeyValueStore } from "./keyValueStore.ts";

/** Writes of what a process has in memory. */
export type OrderedWrites = {
  /** Writes the present value of a key, or deletes the key. It is on the disk when the promise resolves. */
  save: (key: string) => Promise<void>;
  /** Resolves when the last write of a key has ended. Repeats it if it has failed. */
  saved: (key: string) => Promise<void>;
};

/**
 * Writes the values of keys to a store. The writes of one key wait for each other, and each writes the value of its own
 * moment. Otherwise an older value could be written last, and what was acknowledged would not be on the disk.
 *
 * @param present the value that a key has now; undefined if there is none
 */
export function orderedWrites(store: KeyValueStore, present: (key: string) => unknown): OrderedWrites {
  /** For each key, the write that is under way, or that has failed. */
  const writes = new Map<string, Promise<void>>();

  function save(key: string): Promise<void> {
    const write = (): Promise<void> => {
      const value = present(key);
      return value === undefined ? store.delete(key) : store.put(key, value);
    };
    const saving = (writes.get(key) ?? Promise.resolve()).then(write, write);
    writes.set(key, saving);
    saving.then(
      () => {
        if (writes.get(key) === saving) writes.delete(key);
      },
      () => {},
    );
    return saving;
  }

  return {
    save,
    saved: async (key) => {
      await writes.get(key)?.catch(() => save(key));
    },
  };
}
