/** After an answer with fewer logs than this, the next request may have more blocks. */
const FEW = 2_000;

/**
 * The number of blocks in one request. A refusal halves it: permanently if the node limits the number of
 * blocks, temporarily if it limits the size of its answer.
 */
export function windowSize(most: number) {
  let ceiling = most;
  let current = most;
  return {
    get blocks(): number {
      return current;
    },
    refusedRange(blocks: number): void {
      ceiling = Math.max(1, Math.min(ceiling, Math.floor(blocks / 2)));
      current = Math.min(current, ceiling);
    },
    refusedSize(blocks: number): void {
      current = Math.max(1, Math.min(current, Math.floor(blocks / 2)));
    },
    answered(logs: number): void {
      if (logs < FEW) current = Math.min(ceiling, current * 2);
    },
  };
}

export type WindowSize = ReturnType<typeof windowSize>;
