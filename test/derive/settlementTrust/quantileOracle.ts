type Fraction = [n: bigint, d: bigint];

/**
 * The share of Beta(alpha, beta) below x, by the integral of t^(alpha−1)·(1−t)^(beta−1). The second factor is expanded,
 * which gives an alternating sum of powers divided by B(alpha, beta). All fractions are exact. The tested code sums
 * binomial terms instead, and rounds.
 */
export function shareBelow(alpha: number, beta: number, [n, d]: Fraction): Fraction {
  const [a, b] = [BigInt(alpha), BigInt(beta)];
  // Over the common denominator d^(a+b−1)·(a·(a+1)·…·(a+b−1)).
  const last = a + b - 1n;
  let product = 1n;
  for (let k = a; k <= last; k++) product *= k;
  let [sum, chosen] = [0n, 1n];
  for (let k = 0n; k < b; k++) {
    const power = n ** (a + k) * d ** (last - a - k);
    sum += (k % 2n === 0n ? 1n : -1n) * chosen * power * (product / (a + k));
    chosen = (chosen * (b - 1n - k)) / (k + 1n);
  }
  // 1/B(a, b) = (a+b−1)! / ((a−1)!·(b−1)!)
  return [sum * factorial(last), d ** last * product * factorial(a - 1n) * factorial(b - 1n)];
}

/** Whether a figure in units of 10⁻⁹ is the 5th percentile, rounded to the nearest. */
export function isPercentile(alpha: number, beta: number, figure: number): boolean {
  const isBelow = (halves: bigint): boolean => {
    if (halves <= 0n) return true;
    const [n, d] = shareBelow(alpha, beta, [halves, 2_000_000_000n]);
    return 20n * n < d;
  };
  const twice = 2n * BigInt(figure);
  return isBelow(twice - 1n) && !isBelow(twice + 1n);
}

function factorial(n: bigint): bigint {
  let product = 1n;
  for (let k = 2n; k <= n; k++) product *= k;
  return product;
}
