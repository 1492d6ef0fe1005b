/**
 * If this machine's clock is further ahead of the chain's clock than this, in seconds, it alone makes no step old. A
 * node may be behind for hours, and steps are news for seven days.
 */
const MAX_AHEAD_SECONDS = 86_400;

/**
 * The time by two clocks, in unix seconds. This machine's clock may be wrong for a while. The chain's clock is the time
 * of the last tick that the node has read. It is right, but late if the node is behind.
 */
export type ChainClock = {
  now: () => number;
  /** The latest time that has passed by both clocks. Notices are given up and forgotten by this time only. */
  passed: () => number;
  /** The later of the two times. */
  latest: () => number;
  /** Whether this machine's clock is far ahead, or the node is far behind. Nobody can tell which. */
  isDoubtful: () => boolean;
  /** Notes the time of the node's last tick; null before the first. */
  note: (tick: number | null) => void;
};

/** @param now the clock of this machine, in unix seconds */
export function createChainClock(now: () => number): ChainClock {
  // Until the node tells a time, no time has surely passed.
  let chain = 0;
  return {
    now,
    passed: () => Math.min(now(), chain),
    latest: () => Math.max(now(), chain),
    isDoubtful: () => now() > chain + MAX_AHEAD_SECONDS,
    note: (tick) => {
      chain = tick ?? chain;
    },
  };
}
