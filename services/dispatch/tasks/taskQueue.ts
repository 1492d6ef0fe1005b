/** Lets `atOnce` tasks work at the same time. The others wait in the order in which they came. */
export function taskQueue(atOnce: number) {
  let running = 0;
  const waiting: (() => void)[] = [];
  return {
    running: () => running,
    inTurn: async <T>(work: () => Promise<T>): Promise<T> => {
      if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
      else running++;
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        if (next) next();
        else running--;
      }
    },
  };
}
