import type { Address } from "tallystick-protocol/address";
import type { KeyValueStore } from "../store/keyValueStore.ts";

/** How many hex digits of a seller's address are in its keys: 96 bits. The whole address would make file names too long. */
const NAME_LENGTH = 24;

/** Whether a key of a store names its seller. Keys of older versions did not. */
export function isOfSomeSeller(key: string): boolean {
  return new RegExp(`^[a-z]+/[0-9a-f]{${NAME_LENGTH}}\\.`).test(key);
}

/**
 * The part of a store that belongs to one seller. Several sellers may share a folder. A seller never sees,
 * runs or signs another seller's entries.
 */
export function sellerStore(store: KeyValueStore, seller: Address): KeyValueStore {
  const name = `${seller.slice(2, 2 + NAME_LENGTH).toLowerCase()}.`;
  const own = (key: string): string => {
    const at = key.indexOf("/") + 1;
    return `${key.slice(0, at)}${name}${key.slice(at)}`;
  };
  return {
    get: (key) => store.get(own(key)),
    put: (key, value) => store.put(own(key), value),
    putNew: (key, value) => store.putNew(own(key), value),
    delete: (key) => store.delete(own(key)),
    keys: async (folder) => {
      const start = `${folder}/${name}`;
      const keys = await store.keys(folder);
      return keys.filter((key) => key.startsWith(start)).map((key) => `${folder}/${key.slice(start.length)}`);
    },
  };
}
