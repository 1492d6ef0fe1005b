/**
 * Work that continues after its caller got an answer. Whatever is added must limit its own time. Its errors never
 * reach a caller.
 */
export type Background = {
  add: (work: Promise<unknown>) => void;
  /** Waits until all work is done. */
  idle: () => Promise<void>;
};

/** Makes an empty {@link Background}. */
export function createBackground(): Background {
  const underWay = new Set<Promise<unknown>>();
  return {
    add: (work) => {
      const quiet: Promise<unknown> = work.catch(() => {}).finally(() => underWay.delete(quiet));
      underWay.add(quiet);
    },
    idle: async () => {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}
