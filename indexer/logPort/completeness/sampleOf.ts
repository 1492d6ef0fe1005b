/**
 * The wallets whose turn it is: every `rounds`-th, so that so many rounds in a row visit each of them once. By its place in the list
 * alone: neither clock nor chance, and new wallets at the end move nobody.
 *
 * @param round counts up; that of one rotation after the other
 */
export function sampleOf<Item>(items: readonly Item[], round: number, rounds: number): Item[] {
  return items.filter((_, n) => n % rounds === round % rounds);
}
