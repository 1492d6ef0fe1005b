/** Postgres refuses text with a zero byte; nothing is found under such a key anyway. */
export function isPossible(key: string): boolean {
  return key.length <= 2_400 && !key.includes("\0");
}

/** What is found under each key, in the order of the keys; null where there is nothing. */
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
