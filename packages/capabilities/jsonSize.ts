/** How deep a value from a stranger may be nested, in levels. */
export const MAX_JSON_DEPTH = 64;

/** The most values in all, including the value itself and everything in its arrays and objects. */
export const MAX_JSON_VALUES = 2_000_000;

/**
 * What is wrong with the size of a value: it is nested too deep or has too many values; undefined if it is
 * fine. It works without recursion, so no depth can end the process, and stops at the limits, so a circular
 * value does not keep it busy.
 */
export function jsonSizeProblem(value: unknown): string | undefined {
  const open: { value: object; depth: number }[] = [];
  let count = 1;
  if (value !== null && typeof value === "object") open.push({ value, depth: 1 });
  for (let item = open.pop(); item !== undefined; item = open.pop()) {
    if (item.depth > MAX_JSON_DEPTH) return `is nested deeper than ${MAX_JSON_DEPTH} levels`;
    const inside: unknown[] = Array.isArray(item.value) ? item.value : Object.values(item.value);
    count += inside.length;
    if (count > MAX_JSON_VALUES) return `has more than ${MAX_JSON_VALUES} values in it`;
    for (const inner of inside) {
      if (inner !== null && typeof inner === "object") open.push({ value: inner, depth: item.depth + 1 });
    }
  }
  return undefined;
}
