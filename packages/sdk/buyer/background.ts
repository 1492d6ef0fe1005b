/**
 * Work that continues after its caller got an answer. Each piece has its own time limit, and its errors never
 * reach a caller.
 */
export type Background = {
  add: (work: Promise<unknown>) => void;
  /** Waits until all of it is done. */
  idle: () => Promise<void>;
};

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
