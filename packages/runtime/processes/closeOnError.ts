/** Takes the function that closes what was just opened. */
export type OnOpened = (close: () => unknown) => void;

/**
 * Opens several things. If the opening ends with an error, everything that it had opened is closed, the last first.
 * Without this, a lock or a file would stay taken until the process ends.
 *
 * @param open calls `opened` after each thing that it opens
 * @throws the error of `open`. An error of a close is dropped, because the first error says what went wrong
 */
export async function closeOnError<T>(open: (opened: OnOpened) => Promise<T>): Promise<T> {
  const closes: (() => unknown)[] = [];
  try {
    return await open((close) => closes.unshift(close));
  } catch (error) {
    for (const close of closes) {
      try {
        await close();
      } catch {}
    }
    throw error;
  }
}
