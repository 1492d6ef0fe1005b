import { apgr, type Scored } from "./metrics.ts";
import { FEATURES, type Task } from "./table.ts";

/** A way to score tasks. A higher score favours the premium model. */
export type Router = { name: string; score: (task: Task) => number };

/**
 * Three routers: the published function `complexity/1`, the single feature that does best on the choosing
 * tasks, and a sum of features with weights that are fitted to the choosing tasks.
 */
export function routersOf(choosing: readonly Task[]): Router[] {
  return [
    { name: "complexity/1", score: ({ complexity }) => complexity },
    bestFeature(choosing),
    fittedSum(choosing),
  ];
}

/** A task as a router sees it. */
export function scored(tasks: readonly Task[], { score }: Router): Scored[] {
  return tasks.map((task) => ({
    score: score(task),
    thriftyRight: task.thriftyRight,
    premiumRight: task.premiumRight,
  }));
}

function bestFeature(choosing: readonly Task[]): Router {
  const all = FEATURES.flatMap((name): Router[] => [
    { name: `most ${name}`, score: ({ features }) => features[name] },
    { name: `least ${name}`, score: ({ features }) => -features[name] },
  ]);
  const gains = all.map((router) => apgr(scored(choosing, router)));
  return all[gains.indexOf(Math.max(...gains))] as Router;
}

const STEPS = 400;
const RATE = 0.5;

/**
 * A sum of ln(1 + feature), weighted by a logistic regression of "premium is right where thrifty is wrong", by plain
 * gradient descent from zero. The same tasks always give the same weights.
 */
function fittedSum(choosing: readonly Task[]): Router {
  const raw = (task: Task) => FEATURES.map((name) => Math.log1p(task.features[name]));
  const rows = choosing.map(raw);
  const scales = FEATURES.map((_, n) => {
    const values = rows.map((row) => row[n] as number);
    const mean = values.reduce((sum, it) => sum + it, 0) / values.length;
    const variance = values.reduce((sum, it) => sum + (it - mean) ** 2, 0) / values.length;
    return { mean, deviation: Math.sqrt(variance) || 1 };
  });
  const normal = (row: readonly number[]) =>
    row.map((value, n) => (value - (scales[n]?.mean ?? 0)) / (scales[n]?.deviation ?? 1));
  const inputs = rows.map(normal);
  const wanted = choosing.map((it) => +(it.premiumRight && !it.thriftyRight));
  let bias = 0;
  const weights = FEATURES.map(() => 0);
  for (let step = 0; step < STEPS; step++) {
    const slope = FEATURES.map(() => 0);
    let slopeOfBias = 0;
    for (const [at, input] of inputs.entries()) {
      const guess = 1 / (1 + Math.exp(-bias - sum(weights, input)));
      const error = guess - (wanted[at] as number);
      slopeOfBias += error;
      for (const [n, value] of input.entries()) slope[n] = (slope[n] as number) + error * value;
    }
    bias -= (RATE * slopeOfBias) / inputs.length;
    for (const n of weights.keys())
      weights[n] = (weights[n] as number) - (RATE * (slope[n] as number)) / inputs.length;
  }
  return { name: "fitted features", score: (task) => sum(weights, normal(raw(task))) };
}

function sum(weights: readonly number[], values: readonly number[]): number {
  return values.reduce((total, value, n) => total + value * (weights[n] as number), 0);
}
