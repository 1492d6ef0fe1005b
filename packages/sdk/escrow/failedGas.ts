/**
 * How an item of a batch ended. `late`: the contract had taken the signature, and refused the item because the escrow was settled
 * already. `failed`: any other failure.
 */
export type ItemEnd = "done" | "late" | "failed";

/** An item of a batch that was mined. `gasUsed`: what it used when it was tried off the chain, to its good end. */
export type EndedItem = { end: ItemEnd; gasUsed: number };

/**
 * The gas that each item of a batch is charged for; 0 for an item that is done. The receipt shows only what all items burned
 * together. A trial of a single failed item would show nothing: a wallet knows a trial from a transaction, and a liar burns gas
 * only in a transaction.
 *
 * An item that failed is charged for all that the failed items burned together, and at most for the gas that an item gets.
 * Who is late is mostly not at fault. So the items that are late share what these charges leave, in proportion to what their
 * trials used. If that is more than their trials together, one of them burned gas on purpose. Nobody knows which, so each is
 * charged for its trial and for the rest.
 *
 * If `done` is right, all charges together are at least the gas that was burned. So a wallet that burns gas and is late at the
 * same time gains nothing by an accomplice that fails. But `done` comes from a trial too. An accomplice whose item is done, and
 * which burns gas in trials only, makes it too high and the charges too low by as much. A failure without a charge still counts
 * as a failure of its wallet.
 *
 * @param parameters.intrinsic the gas of the transaction without its execution
 * @param parameters.done the gas that the items that are done used together
 */
export function failedGas(parameters: {
  gasUsed: number;
  intrinsic: number;
  gasEach: number;
  done: number;
  items: readonly EndedItem[];
}): number[] {
  const { gasUsed, intrinsic, gasEach, done, items } = parameters;
  const burned = Math.max(0, gasUsed - intrinsic - done);
  const ofFailed = Math.min(gasEach, burned);
  const failures = items.filter(({ end }) => end === "failed").length;
  const left = Math.max(0, burned - failures * ofFailed);
  const trials = items.reduce((sum, it) => sum + (it.end === "late" ? it.gasUsed : 0), 0);
  const rest = Math.max(0, left - trials);
  return items.map(({ end, gasUsed: tried }) => {
    if (end === "done") return 0;
    if (end === "failed") return ofFailed;
    const share = left < trials ? Math.ceil((tried * left) / trials) : tried + rest;
    return Math.min(gasEach, share);
  });
}
