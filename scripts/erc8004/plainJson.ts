/** A copy of a value in which every bigint is a decimal string, so that it can be written as JSON. */
export function plainJson<T>(value: T): Plain<T> {
  return JSON.parse(JSON.stringify(value, (_, it) => (typeof it === "bigint" ? String(it) : it)));
}

/** The type of {@link plainJson}'s result. */
export type Plain<T> = T extends bigint ? string : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;
