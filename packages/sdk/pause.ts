import { abortable } from "./deadline.ts";

/**
 * Waits for `ms` milliseconds.
 *
 * @param options.signal when it is aborted, the pause ends at once, and its reason is thrown
 * @param options.mayEnd whether a process that has nothing else to do may end meanwhile
 */
export async function pause(
  ms: number,
  { signal, mayEnd = false }: { signal?: AbortSignal | undefined; mayEnd?: boolean } = {},
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  // In browsers a timer is a number.
  if (mayEnd) (timer as { unref?: () => void }).unref?.();
  try {
    await (signal === undefined ? promise : abortable(promise, signal));
  } finally {
    clearTimeout(timer);
  }
}
