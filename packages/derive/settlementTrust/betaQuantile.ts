/** Figures are whole numbers of 10⁻⁹. The middle between two figures is a whole number of these halves. */
const HALVES = 2_000_000_000n;

/** One in twenty lies below the quantile: the 5th percentile. */
const ONE_IN = 20n;

/** The first number of bits after the binary point with which sums are computed. With so many, more are hardly needed. */
const FIRST_BITS = 80n;

/**
 * The 5th percentile of Beta(alpha, beta) in units of 10⁻⁹, rounded to the nearest. Both parameters are whole, so the
 * share below x is a sum of binomial terms, and every term is a fraction of its neighbour. Each sum is computed twice
 * in whole numbers, once rounded down and once rounded up. If the two do not give the same answer, they are computed
 * again with more bits. So every machine gives the exact answer. No sum is ever exactly 1/20 at the middle between
 * two figures: x would be 1/q for q = 1024·5ⁱ by the rational root theorem, and q − 1 would have to divide 19.
 *
 * @param alpha whole, at least 1
 * @param beta whole, at least 2
 * @param firstBits how many bits are tried first, at least 1. The answer is the same with any number
 * @throws RangeError for other parameters
 */
export function betaQuantile(alpha: number, beta: number, firstBits = FIRST_BITS): number {
  if (!Number.isSafeInteger(alpha) || !Number.isSafeInteger(beta) || alpha < 1 || beta < 2)
    throw new RangeError(`Beta(${alpha}, ${beta}): alpha must be a whole number from 1 on, beta from 2 on.`);
  let [low, high] = [0, 1_000_000_000];
  // Searches the first figure for which more than 1/20 lies below the middle between it and the next figure.
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (isBeyond(alpha, beta, 2n * BigInt(middle) + 1n, firstBits)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Whether more than 1/20 of Beta(alpha, beta) lies below x / HALVES. */
function isBeyond(alpha: number, beta: number, x: bigint, firstBits: bigint): boolean {
  for (let bits = firstBits; ; bits *= 2n) {
    const answer = decide(alpha, beta, x, bits);
    if (answer !== undefined) return answer;
  }
}

/**
 * In n = alpha + beta − 1 trials that succeed with chance x, the share below x is the chance of fewer than beta
 * failures. With the term of beta − 1 failures as the unit, `few` is the sum downwards from there and `many` the sum
 * upwards. The share is few / (few + many).
 *
 * @returns undefined when this many bits do not decide
 */
function decide(alpha: number, beta: number, x: bigint, bits: bigint): boolean | undefined {
  const rest = HALVES - x;
  const unit = 1n << bits;
  // The terms from the middle outwards. Term k is the previous term times fraction k.
  const few = new Terms(unit, beta - 1, (k) => [BigInt(beta - k) * x, BigInt(alpha + k) * rest]);
  const many = new Terms(unit, alpha, (k) => [BigInt(alpha + 1 - k) * rest, BigInt(beta - 1 + k) * x]);
  few.low = unit;
  few.high = unit;
  do {
    few.step();
    many.step();
    const [mostFew, mostMany] = [few.most, many.most];
    if (mostMany !== undefined && few.low * (ONE_IN - 1n) > mostMany) return true;
    if (mostFew !== undefined && many.low > mostFew * (ONE_IN - 1n)) return false;
  } while (!few.isDone || !many.isDone);
  return undefined;
}

/** A sum of terms, between a lower and an upper bound in whole numbers. The terms may rise at first, and then fall. */
class Terms {
  /** The sum so far, once rounded down and once rounded up. */
  low = 0n;
  high = 0n;
  #term: [low: bigint, high: bigint];
  #taken = 0;
  #isFalling = false;
  readonly #count: number;
  readonly #fraction: (k: number) => [n: bigint, d: bigint];

  constructor(unit: bigint, count: number, fraction: (k: number) => [bigint, bigint]) {
    this.#term = [unit, unit];
    this.#count = count;
    this.#fraction = fraction;
  }

  /** Whether the rest is zero, or too small to change a bit. */
  get isDone(): boolean {
    return this.#taken === this.#count || (this.#isFalling && this.#term[1] <= 1n);
  }

  /** An upper bound of the whole sum; none while the terms still rise. */
  get most(): bigint | undefined {
    const left = this.#count - this.#taken;
    if (left > 0 && !this.#isFalling) return undefined;
    return this.high + BigInt(left) * this.#term[1];
  }

  step(): void {
    if (this.isDone) return;
    const [n, d] = this.#fraction(++this.#taken);
    const [low, high] = this.#term;
    this.#isFalling ||= n < d;
    this.#term = [(low * n) / d, (high * n + d - 1n) / d];
    this.low += this.#term[0];
    this.high += this.#term[1];
  }
}
