/** Whether a key can exist. Postgres refuses text with a zero byte. */
export function isPossible(key: string): boolean {
  return key.length <= 2_400 && !key.includes("\0");
}

/** The value of each key, in the order of the keys; null where there is none. */
export async function byKey<Found>(
  keys: readonly string[],
  select: (keys: string[]) => Promise<Found[]>,
  keyOf: (row: Found) => string,
): Promise<(Found | null)[]> {
  const possible = keys.filter(isPossible);
  const rows = possible.length === 0 ? [] : await select(possible);
  const found = new Map(rows.map((row) => [keyOf(row), row]));
  return keys.map((key) => found.get(key) ?? null);
}
