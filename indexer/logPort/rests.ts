import type { HistorySource } from "./logPort.ts";

/** The shortest rest of a source that failed, in milliseconds. */
const MIN_REST_MS = 30_000;

/** A source rests this many times as long as its failure took, so it takes at most a quarter of the time. */
const REST_PER_FAILURE = 3;

/**
 * Remembers which sources failed a moment ago. They are asked last, so that a source that hangs does not delay
 * every read.
 *
 * @param now milliseconds of a clock that never goes back
 */
export function openRests(now: () => number) {
  const until = new Map<HistorySource, number>();
  return {
    isResting: (source: HistorySource): boolean => (until.get(source) ?? Number.NEGATIVE_INFINITY) > now(),
    /** @param took milliseconds from the question to the failure */
    failed(source: HistorySource, took: number): void {
      until.set(source, now() + Math.max(MIN_REST_MS, REST_PER_FAILURE * took));
    },
    answered(source: HistorySource): void {
      until.delete(source);
    },
  };
}
