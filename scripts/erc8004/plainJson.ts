/** A value as JSON can say it: integers of any size as decimal strings. */
export function plainJson<T>(value: T): Plain<T> {
  return JSON.parse(JSON.stringify(value, (_, it) => (typeof it === "bigint" ? String(it) : it)));
}

/** What {@link plainJson} makes of a type. */
export type Plain<T> = T extends bigint ? string : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;
