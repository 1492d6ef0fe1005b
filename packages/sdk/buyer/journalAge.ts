import type { KeyValueStore } from "../store/keyValueStore.ts";

const BEGAN = "journal/began";

/**
 * Returns when a journal began, in milliseconds since 1970. The first process that uses the journal stores this
 * time.
 */
export function journalAge(store: KeyValueStore, now: () => number): () => Promise<number> {
  let began: number | undefined;
  return async () => {
    if (began !== undefined) return began;
    await store.putNew(BEGAN, now());
    began = (await store.get<number>(BEGAN)) ?? now();
    return began;
  };
}
