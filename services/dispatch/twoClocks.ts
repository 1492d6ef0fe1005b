/**
 * The time by two clocks, in milliseconds since 1970: this machine's, and settlement's, which its answers name. One of
 * them may be wrong for a while. Before settlement's first answer only this machine's is known.
 */
export type TwoClocks = {
  /** The time of this machine. */
  now: () => number;
  /** A time that has passed by both clocks; undefined before settlement's first answer. */
  passed: () => number | undefined;
  /** A time that no clock is beyond; undefined before settlement's first answer. */
  latest: () => number | undefined;
  /** Notes the time of settlement that an answer names. */
  note: (answer: Response) => void;
};

/**
 * @param now the clock of this machine, in milliseconds since 1970
 * @param elapsed milliseconds that never go back
 */
export function twoClocks(now: () => number, elapsed = () => performance.now()): TwoClocks {
  let isAnswered = false;
  /** How much later settlement's clock is than the time that has elapsed; undefined if its answers name no time. */
  let ahead: number | undefined;
  const both = (): [number, number] | undefined => {
    if (!isAnswered) return undefined;
    return [now(), ahead === undefined ? now() : elapsed() + ahead];
  };
  return {
    now,
    passed: () => {
      const times = both();
      return times && Math.min(...times);
    },
    latest: () => {
      const times = both();
      return times && Math.max(...times);
    },
    note: ({ headers }) => {
      const told = Date.parse(headers.get("date") ?? "");
      isAnswered = true;
      if (!Number.isNaN(told)) ahead = told - elapsed();
    },
  };
}
