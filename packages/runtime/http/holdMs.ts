/** The delay of a refusal while no other refusal of its client is delayed, in milliseconds. */
export const HOLD_MS = 1_000;

/** With this many other delayed refusals the delay is twice as long. */
const OTHERS_PER_SECOND = 64;

/**
 * The delay of a client's next refusal. It grows with the number of the client's refusals that are delayed
 * already. So a client gets at most 64 delayed refusals a second, on any number of connections. These refusals
 * do not end at the same time.
 */
export function holdMs(others: number): number {
  return HOLD_MS * (1 + others / OTHERS_PER_SECOND);
}
