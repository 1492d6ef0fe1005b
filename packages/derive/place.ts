/** Where a log of the chain stands. */
export type Place = { block: number; log: number };

/** The place alone. */
export function placeOf({ block, log }: Place): Place {
  return { block, log };
}

export function isBefore(a: Place, b: Place): boolean {
  return a.block < b.block || (a.block === b.block && a.log < b.log);
}
