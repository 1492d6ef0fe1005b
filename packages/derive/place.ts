/** The position of a log on the chain. */
export type Place = { block: number; log: number };

/** The position without other fields. */
export function placeOf({ block, log }: Place): Place {
  return { block, log };
}

export function isBefore(a: Place, b: Place): boolean {
  return a.block < b.block || (a.block === b.block && a.log < b.log);
}
