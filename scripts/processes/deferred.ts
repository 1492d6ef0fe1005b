/** A promise with its two ends outside, as `Promise.withResolvers` makes it. */
export type Deferred<T> = {
  promise: Promise<T>;
  resolve: (value: T) => void;
  reject: (reason: unknown) => void;
};

/** Makes a {@link Deferred}. Its rejection counts as handled even when nobody waits for it. */
export function deferred<T>(): Deferred<T> {
  let ends: Omit<Deferred<T>, "promise"> | undefined;
  const promise = new Promise<T>((resolve, reject) => {
    ends = { resolve, reject };
  });
  promise.catch(() => {});
  return { promise, ...(ends as Omit<Deferred<T>, "promise">) };
}
