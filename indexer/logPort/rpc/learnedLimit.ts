/**
 * After this many answers a larger request is tried again. If the provider really has such a limit, this costs half a
 * percent more requests.
 */
const ANSWERS = 200;

/**
 * A limit of a provider, which is learned from what it refuses. A refusal halves it. It grows again slowly, because
 * some refusals have a cause that passes, and a source runs for months.
 *
 * @param most the limit until something is refused
 */
export function learnedLimit(most: number) {
  let current = most;
  let answers = 0;
  return {
    get current(): number {
      return current;
    },
    /** @param asked how much was refused */
    refused(asked: number): void {
      current = Math.max(1, Math.min(current, Math.floor(asked / 2)));
      answers = 0;
    },
    answered(): void {
      if (current === most || ++answers < ANSWERS) return;
      current = Math.min(most, 2 * current);
      answers = 0;
    },
  };
}

export type LearnedLimit = ReturnType<typeof learnedLimit>;
