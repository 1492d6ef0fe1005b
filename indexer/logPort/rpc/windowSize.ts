/** An answer with fewer logs than this says that more blocks may be asked for. */
const FEW = 2_000;

/**
 * How many blocks are asked for at once. It is halved when the node refuses: permanently when the node counts blocks, for
 * now when it counts the size of its answer.
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
