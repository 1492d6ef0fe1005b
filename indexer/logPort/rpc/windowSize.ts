import { learnedLimit } from "./learnedLimit.ts";

/** After an answer with fewer logs than this, the next request may have more blocks. */
const FEW = 2_000;

/**
 * The number of blocks in one request. A refusal halves it. If the node limits the number of blocks, it stays lower
 * for long. If the node limits the size of its answer, it grows again after the next small answer.
 */
export function windowSize(most: number) {
  const ceiling = learnedLimit(most);
  let current = most;
  return {
    get blocks(): number {
      return current;
    },
    refusedRange(blocks: number): void {
      ceiling.refused(blocks);
      current = Math.min(current, ceiling.current);
    },
    refusedSize(blocks: number): void {
      current = Math.max(1, Math.min(current, Math.floor(blocks / 2)));
    },
    answered(logs: number): void {
      ceiling.answered();
      if (logs < FEW) current = Math.min(ceiling.current, current * 2);
    },
  };
}

export type WindowSize = ReturnType<typeof windowSize>;
