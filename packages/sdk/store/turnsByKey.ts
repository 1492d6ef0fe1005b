/** Lets the changes of one key wait for each other, so that no change undoes another. Other keys do not wait. */
export function turnsByKey() {
  const tails = new Map<string, Promise<unknown>>();
  return <Rest extends unknown[]>(change: (key: string, ...rest: Rest) => Promise<void>) =>
    (key: string, ...rest: Rest): Promise<void> => {
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
