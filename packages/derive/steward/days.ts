export const DAY = 86_400;
export const HOUR = 3_600;

/** The number of a time's UTC day. */
export function dayOf(time: number): number {
  return Math.floor(time / DAY);
}
