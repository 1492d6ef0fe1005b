/** Lets the changes of one key wait for each other, so that no change undoes another. Other keys do not wait. */
export function turnsByKey() {
  const tails = new Map<string, Promise<unknown>>();
  return <Rest extends unknown[], T>(change: (key: string, ...rest: Rest) => Promise<T>) =>
    (key: string, ...rest: Rest): Promise<T> => {
      const work = () => change(key, ...rest);
      const turn = (tails.get(key) ?? Promise.resolve()).then(work, work);
      const end = turn
        .catch(() => {})
        .finally(() => {
          if (tails.get(key) === end) tails.delete(key);
        });
      tails.set(key, end);
      return turn;
    };
}
