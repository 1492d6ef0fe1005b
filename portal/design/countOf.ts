/** A number of this size or larger is written with an exponent. */
const MAX_WRITTEN = 1e15;

/** A count with its noun: `1 hire`, `2,000 hires`. `many` is the plural; by default it is the noun with an `s`. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  const number =
    Math.abs(count) < MAX_WRITTEN
      ? count.toLocaleString("en", { maximumFractionDigits: 2 })
      : count.toExponential(2);
  return `${number} ${count === 1 ? one : many}`;
}

/** A number of entries: `1 entry`, `2 entries`. */
export function entriesOf(count: number): string {
  return countOf(count, "entry", "entries");
}
