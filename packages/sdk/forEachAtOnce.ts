/**
 * Does work for each item, in their order, for at most `atOnce` items at the same time. If the work of an item fails,
 * no further item begins. The error is thrown when the running items have ended.
 *
 * @param parameters.signal when it is aborted, no further item begins; nothing is thrown
 */
export async function forEachAtOnce<Item>(
  items: Iterable<Item>,
  { atOnce, signal }: { atOnce: number; signal?: AbortSignal | undefined },
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = [...items].reverse();
  const errors: unknown[] = [];
  const worker = async (): Promise<void> => {
    while (waiting.length > 0 && errors.length === 0 && signal?.aborted !== true) {
      try {
        await work(waiting.pop() as Item);
      } catch (error) {
        errors.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, atOnce) }, worker));
  if (errors.length > 0) throw errors[0];
}
