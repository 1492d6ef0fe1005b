/**
 * Storage of a buyer, a seller, an auditor, a keeper or a budget: JSON values by key. Keys are paths like
 * `job/job_01ABC`; the part before the first slash is the folder that {@link KeyValueStore.keys} lists.
 */
export type KeyValueStore = {
  get: <T>(key: string) => Promise<T | undefined>;
  /** Writes a value, and replaces an old one. */
  put: (key: string, value: unknown) => Promise<void>;
  /** Writes only if the key is new, as one indivisible step. Returns whether it wrote. */
  putNew: (key: string, value: unknown) => Promise<boolean>;
  delete: (key: string) => Promise<void>;
  /** The keys of one folder, in any order. */
  keys: (folder: string) => Promise<string[]>;
};

/** A store in memory, which ends with its process. For tests, and where a loss does no harm. */
export function memoryStore(): KeyValueStore {
  const values = new Map<string, string>();
  return {
    get: async <T>(key: string) => {
      const text = values.get(key);
      return text === undefined ? undefined : (JSON.parse(text) as T);
    },
    put: async (key, value) => {
      values.set(key, JSON.stringify(value));
    },
    putNew: async (key, value) => {
      if (values.has(key)) return false;
      values.set(key, JSON.stringify(value));
      return true;
    },
    delete: async (key) => {
      values.delete(key);
    },
    keys: async (folder) => [...values.keys()].filter((key) => key.startsWith(`${folder}/`)),
  };
}
