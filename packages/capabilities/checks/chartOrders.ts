/** The name of a value: the place of its bar on the axis. */
export type Name = string | number;

/**
 * The numbers that names stand for on an axis of numbers or days. Undefined if one of them is neither a number
 * nor a day.
 */
export function axisPlaces(names: readonly Name[]): number[] | undefined {
  const places = names.map((name) => {
    if (typeof name === "number") return name;
    if (/^[-+]?\d{1,15}(?:\.\d{1,15})?$/.test(name)) return Number(name);
    return /^\d{4}-\d\d(?:-\d\d(?:T[\d:.]{5,12}Z?)?)?$/.test(name) ? Date.parse(name) : Number.NaN;
  });
  return places.every(Number.isFinite) ? places : undefined;
}

/**
 * The orders in which a chart may show values, as lists of indices: as they were given, and in the order of their
 * names, in which many libraries draw them.
 */
export function namedOrders(names: readonly Name[]): number[][] {
  const given = names.map((_, at) => at);
  const places = axisPlaces(names);
  const orders = [given];
  if (places) orders.push(sorted(given, (a, b) => (places[a] as number) - (places[b] as number)));
  if (names.some((name) => typeof name === "string")) {
    const texts = names.map(String);
    orders.push(sorted(given, (a, b) => compare(texts[a] as string, texts[b] as string)));
  }
  return orders;
}

/**
 * The orders by value, rising and falling. Bars may be sorted by value only if the names are categories, because
 * numbers and days have their own order.
 */
export function valueOrders(names: readonly Name[], values: readonly number[]): number[][] {
  if (axisPlaces(names)) return [];
  const rising = sorted(
    names.map((_, at) => at),
    (a, b) => (values[a] as number) - (values[b] as number),
  );
  return [rising, [...rising].reverse()];
}

function sorted(indices: number[], compareTwo: (a: number, b: number) => number): number[] {
  return [...indices].sort((a, b) => compareTwo(a, b) || a - b);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
