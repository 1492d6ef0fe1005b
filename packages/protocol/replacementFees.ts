/** The limits of a transaction's price (EIP-1559), in wei for each unit of gas. */
export type TransactionFees = { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint };

/**
 * A replacement costs at most this many times the present price. A transaction that pays that much and is still not
 * mined waits for the chain, not for a higher price.
 */
const MOST_TIMES_THE_PRICE = 10n;

/**
 * The price of a transaction that replaces another one with the same nonce. Nodes accept it only if both of its fees
 * are at least a tenth higher (some want an eighth); a quarter is safe. Without a limit, a chain that stands still for
 * hours would get the account's whole balance once it continues.
 *
 * @param now the present price
 * @param before the price of the transaction to be replaced
 * @returns the price of the replacement; the price of `before`, without a change, if a replacement would cost too much
 */
export function replacementFees(now: TransactionFees, before: TransactionFees): TransactionFees {
  const maxFeePerGas = atLeastAQuarterMore(now.maxFeePerGas, before.maxFeePerGas);
  if (maxFeePerGas > MOST_TIMES_THE_PRICE * now.maxFeePerGas) {
    return { maxFeePerGas: before.maxFeePerGas, maxPriorityFeePerGas: before.maxPriorityFeePerGas };
  }
  const maxPriorityFeePerGas = atLeastAQuarterMore(now.maxPriorityFeePerGas, before.maxPriorityFeePerGas);
  return { maxFeePerGas, maxPriorityFeePerGas };
}

function atLeastAQuarterMore(now: bigint, before: bigint): bigint {
  const more = (before * 5n) / 4n + 1n;
  return now > more ? now : more;
}
