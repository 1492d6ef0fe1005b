/** The chance that is left out on each side of the interval. Both sides together are 5 %. */
const TAIL = 0.025;
/** How often [0, 1] is halved. This gives more than the six decimals that are shown. */
const HALVINGS = 40;
const DECIMALS = 1_000_000;

/**
 * The exact 95 % interval of a share, `successes` of `trials` (Clopper and Pearson, Biometrika 26, 1934). A share p is
 * in the interval if, with the chance p for each trial, two events have a chance of at least 2.5 %: at most this number
 * of successes, and at least this number. The ends are rounded outwards at six decimals. Without trials the interval is
 * `[0, 1]`. The computation uses only +, −, × and ÷, which every machine computes alike. The interval is only shown,
 * and decides nothing.
 *
 * @param successes a whole number from 0 to `trials`
 */
export function exactInterval(successes: number, trials: number): [low: number, high: number] {
  const low = successes === 0 ? 0 : bisect((p) => upperTail(successes, trials, p) < TAIL)[0];
  const high = successes === trials ? 1 : bisect((p) => 1 - upperTail(successes + 1, trials, p) > TAIL)[1];
  return [Math.floor(low * DECIMALS) / DECIMALS, Math.ceil(high * DECIMALS) / DECIMALS];
}

/** The two neighbouring points between which `isBelow` turns from true to false. */
function bisect(isBelow: (p: number) => boolean): [low: number, high: number] {
  let [low, high] = [0, 1];
  for (let n = 0; n < HALVINGS; n++) {
    const middle = (low + high) / 2;
    if (isBelow(middle)) low = middle;
    else high = middle;
  }
  return [low, high];
}

/**
 * The chance that at least `least` of `trials` succeed, if each succeeds with chance `p`. Terms are divided by the
 * largest term, so no term overflows.
 */
function upperTail(least: number, trials: number, p: number): number {
  const mode = Math.min(trials, Math.floor((trials + 1) * p));
  let [above, all] = [mode >= least ? 1 : 0, 1];
  for (let [k, term] = [mode, 1]; k < trials && term > 0; k++) {
    term *= ((trials - k) * p) / ((k + 1) * (1 - p));
    all += term;
    if (k + 1 >= least) above += term;
  }
  for (let [k, term] = [mode, 1]; k > 0 && term > 0; k--) {
    term *= (k * (1 - p)) / ((trials - k + 1) * p);
    all += term;
    if (k - 1 >= least) above += term;
  }
  return above / all;
}
