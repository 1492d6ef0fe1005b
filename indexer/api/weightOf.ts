/**
 * The weight of a hire or its rating: 1/size of the cluster that both sides shared, else 1; rounded to
 * nine decimals.
 */
export function weightOf({ clusterSize }: { clusterSize: number }): number {
  return Math.round(1e9 / clusterSize) / 1e9;
}
