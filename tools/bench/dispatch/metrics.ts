/**
 * One task as a router sees it: its score (a higher score favours the premium model), and whether each model is
 * right.
 */
export type Scored = { score: number; thriftyRight: boolean; premiumRight: boolean };

/** The effect of a threshold: the share of tasks that go to the premium model, and the share of right answers. */
export type CurvePoint = { threshold: number; premiumShare: number; quality: number };

/** The indexes of items by score, the highest first. They are sorted once and used for every resample. */
export function orderOf(items: readonly { score: number }[]): number[] {
  const score = (at: number) => (items[at] as { score: number }).score;
  return [...items.keys()].sort((a, b) => score(b) - score(a));
}

/**
 * Every share of premium calls that a threshold can give, from none to all. Tasks with equal scores stay
 * together.
 *
 * @param weights how often each task counts; default once
 * @param order the result of {@link orderOf} for these tasks
 */
export function curveOf(
  tasks: readonly Scored[],
  weights?: readonly number[],
  order = orderOf(tasks),
): CurvePoint[] {
  let [all, right, escalated] = [0, 0, 0];
  for (const [n, task] of tasks.entries()) {
    const weight = weights?.[n] ?? 1;
    all += weight;
    right += weight * +task.thriftyRight;
  }
  const points: CurvePoint[] = [
    { threshold: Number.POSITIVE_INFINITY, premiumShare: 0, quality: right / all },
  ];
  for (const [at, n] of order.entries()) {
    const { score, thriftyRight, premiumRight } = tasks[n] as Scored;
    const weight = weights?.[n] ?? 1;
    escalated += weight;
    right += weight * (+premiumRight - +thriftyRight);
    const next = order[at + 1];
    if (next !== undefined && (tasks[next] as Scored).score === score) continue;
    points.push({ threshold: score, premiumShare: escalated / all, quality: right / all });
  }
  return points;
}

/**
 * Average performance gap recovered (RouteLLM): the area under the curve of (quality − thrifty's) / (premium's
 * − thrifty's) over the share of premium calls. Random choice gives 1/2. NaN when both models are equally good.
 */
export function apgr(tasks: readonly Scored[], weights?: readonly number[], order = orderOf(tasks)): number {
  const points = curveOf(tasks, weights, order);
  const [thrifty, premium] = [points[0]?.quality ?? 0, points.at(-1)?.quality ?? 0];
  let area = 0;
  for (const [at, { premiumShare, quality }] of points.entries()) {
    const before = points[at - 1];
    if (before === undefined) continue;
    area += ((premiumShare - before.premiumShare) * (quality + before.quality)) / 2;
  }
  return premium === thrifty ? Number.NaN : (area - thrifty) / (premium - thrifty);
}

/** One answer: how far its shadow was from it, and whether it was wrong. */
export type Flagged = { score: number; isWrong: boolean };

/**
 * The chance that a wrong answer has a higher score than a right answer (area under the ROC curve). Equal scores count
 * half. NaN if no answer is wrong, or if none is right.
 */
export function auroc(
  answers: readonly Flagged[],
  weights?: readonly number[],
  order = orderOf(answers),
): number {
  let [wins, wrong, right] = [0, 0, 0];
  for (let at = 0; at < order.length; ) {
    const { score } = answers[order[at] as number] as Flagged;
    let [wrongHere, rightHere] = [0, 0];
    for (; at < order.length; at++) {
      const n = order[at] as number;
      const answer = answers[n] as Flagged;
      if (answer.score !== score) break;
      if (answer.isWrong) wrongHere += weights?.[n] ?? 1;
      else rightHere += weights?.[n] ?? 1;
    }
    // So far, `wrong` has the wrong answers with higher scores.
    wins += rightHere * (wrong + wrongHere / 2);
    wrong += wrongHere;
    right += rightHere;
  }
  return wrong === 0 || right === 0 ? Number.NaN : wins / (wrong * right);
}

/** A figure of a sample, with the bounds of its 95 % interval. */
export type Estimate = { value: number; low: number; high: number };

/**
 * The 95 % interval of a figure by the percentile bootstrap: draws many samples of the items with replacement, and
 * computes the figure for each sample.
 *
 * @param figure computes the figure; its argument says how often each of the `size` items counts, default once
 * @param random from 0 to 1, seeded
 */
export function bootstrap(
  size: number,
  figure: (weights?: readonly number[]) => number,
  { resamples, random }: { resamples: number; random: () => number },
): Estimate {
  const drawn: number[] = [];
  for (let n = 0; n < resamples; n++) {
    const weights = new Array<number>(size).fill(0);
    for (let k = 0; k < size; k++) {
      const at = Math.floor(random() * size);
      weights[at] = (weights[at] as number) + 1;
    }
    const value = figure(weights);
    if (!Number.isNaN(value)) drawn.push(value);
  }
  drawn.sort((a, b) => a - b);
  const at = (share: number) =>
    drawn[Math.min(drawn.length - 1, Math.floor(share * drawn.length))] ?? Number.NaN;
  return { value: figure(), low: at(0.025), high: at(0.975) };
}
