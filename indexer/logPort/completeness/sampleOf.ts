/**
 * Every `rounds`-th wallet, so that `rounds` rounds in a row visit each wallet once. Only its place in the
 * list decides, not the clock and not chance. New wallets at the end do not change the turns of the others.
 *
 * @param round the number of the round, which counts up over all rotations
 */
export function sampleOf<Item>(items: readonly Item[], round: number, rounds: number): Item[] {
  return items.filter((_, n) => n % rounds === round % rounds);
}
