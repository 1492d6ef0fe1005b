import { costOf } from "./costs.ts";
import { apgr, bootstrap, type CurvePoint, curveOf, type Estimate, orderOf, type Scored } from "./metrics.ts";
import { type Router, routersOf, scored } from "./routers.ts";
import type { Task } from "./table.ts";

/** How much of the premium model's quality a threshold may lose on the half where it is chosen. */
const MAX_LOSS = 0.01;

/** The published bounds of complexity, in thousandths (swarm.at §6.1). */
const BOUNDS = [700, 300];

/**
 * The figures of a policy on the reporting half. They are shares of 1; the cost is a share of the cost of
 * always using the premium model.
 */
export type PolicyFigures = {
  policy: string;
  premiumCalls: number;
  cost: number;
  quality: number;
  loss: number;
};

export type RouterFigures = {
  router: string;
  apgr: Estimate;
  /** The quality at several shares of premium calls. */
  curve: { premiumShare: number; quality: number }[];
};

export type SuiteFigures = {
  suite: string;
  tasks: number;
  thriftyQuality: number;
  premiumQuality: number;
  routers: RouterFigures[];
  policies: PolicyFigures[];
};

export type RoutingOptions = { resamples: number; random: () => number };

/**
 * Measures every policy on one suite. Thresholds are chosen on one half of its tasks, and all figures come from
 * the other half.
 */
export function measureSuite(
  suite: string,
  choosing: readonly Task[],
  reporting: readonly Task[],
  options: RoutingOptions,
): SuiteFigures {
  const routers = routersOf(choosing);
  const figures = (policy: string, decide: Decide) => figuresOf(policy, reporting, decide);
  const policies: PolicyFigures[] = [
    figures("always premium (the best single model)", () => "premium"),
    figures("always thrifty", () => "thrifty"),
    byChance(choosing, reporting),
    ...BOUNDS.map((bound) =>
      figures(`complexity/1, premium from ${bound / 1_000}`, ({ complexity }) =>
        complexity >= bound ? "premium" : "thrifty",
      ),
    ),
    ...routers.map((router) => {
      const threshold = thresholdOf(curveOf(scored(choosing, router)));
      return figures(`${router.name}, at most 1 point lost`, (task) =>
        router.score(task) >= threshold ? "premium" : "thrifty",
      );
    }),
    ...(reporting.every(({ answers }) => answers !== undefined)
      ? verified(routers, choosing, reporting)
      : []),
    figures("oracle", ({ thriftyRight, premiumRight }) =>
      premiumRight && !thriftyRight ? "premium" : "thrifty",
    ),
  ];
  return {
    suite,
    tasks: reporting.length,
    thriftyQuality: mean(reporting, ({ thriftyRight }) => +thriftyRight),
    premiumQuality: mean(reporting, ({ premiumRight }) => +premiumRight),
    routers: [...routers, ORACLE].map((router) => routerFigures(router, reporting, options)),
    policies,
  };
}

/** A router that knows which model each task needs. */
const ORACLE: Router = {
  name: "oracle",
  score: ({ thriftyRight, premiumRight }) => +premiumRight - +thriftyRight,
};

function routerFigures(router: Router, reporting: readonly Task[], options: RoutingOptions): RouterFigures {
  const tasks: readonly Scored[] = scored(reporting, router);
  const order = orderOf(tasks);
  return {
    router: router.name,
    apgr: bootstrap(tasks.length, (weights) => apgr(tasks, weights, order), options),
    curve: tenths(curveOf(tasks)),
  };
}

/**
 * The curve at each tenth of premium calls. Between two points it is a straight line, as if tasks of equal
 * score were taken at random.
 */
function tenths(points: readonly CurvePoint[]): { premiumShare: number; quality: number }[] {
  return Array.from({ length: 11 }, (_, n) => {
    const premiumShare = n / 10;
    const at = Math.max(
      1,
      points.findIndex((it) => it.premiumShare >= premiumShare),
    );
    const [before, after] = [points[at - 1], points[at]] as [CurvePoint, CurvePoint];
    const part = (premiumShare - before.premiumShare) / (after.premiumShare - before.premiumShare);
    return { premiumShare, quality: before.quality + part * (after.quality - before.quality) };
  });
}

/** The threshold with the fewest premium calls that loses at most {@link MAX_LOSS}. */
function thresholdOf(points: readonly CurvePoint[]): number {
  const best = points.at(-1)?.quality ?? 0;
  return points.find(({ quality }) => quality >= best - MAX_LOSS)?.threshold ?? Number.NEGATIVE_INFINITY;
}

/**
 * Chooses a model for a task. `checked`: the thrifty model answers first. If a check finds this answer wrong, the premium
 * model answers too.
 */
type Decide = (task: Task) => "thrifty" | "premium" | "checked";

function figuresOf(policy: string, tasks: readonly Task[], decide: Decide): PolicyFigures {
  let [calls, cost, whole, right, best] = [0, 0, 0, 0, 0];
  for (const task of tasks) {
    const choice = decide(task);
    const [thrifty, premium] = [costOf(task, "thrifty"), costOf(task, "premium")];
    const isEscalated = choice === "premium" || (choice === "checked" && !task.thriftyRight);
    calls += +isEscalated;
    cost += (choice === "premium" ? 0 : thrifty) + (isEscalated ? premium : 0);
    right += +(isEscalated ? task.premiumRight : task.thriftyRight);
    whole += premium;
    best += +task.premiumRight;
  }
  const n = tasks.length;
  return {
    policy,
    premiumCalls: calls / n,
    cost: cost / whole,
    quality: right / n,
    loss: (best - right) / n,
  };
}

/**
 * Random routing. The share of premium calls is the smallest that loses at most {@link MAX_LOSS} on the
 * choosing half. The figures are averages.
 */
function byChance(choosing: readonly Task[], reporting: readonly Task[]): PolicyFigures {
  const gap = mean(choosing, ({ premiumRight, thriftyRight }) => +premiumRight - +thriftyRight);
  const share = gap <= MAX_LOSS ? 0 : 1 - MAX_LOSS / gap;
  const all = figuresOf("", reporting, () => "premium");
  const none = figuresOf("", reporting, () => "thrifty");
  const between = (of: (it: PolicyFigures) => number) => share * of(all) + (1 - share) * of(none);
  return {
    policy: "chance, at most 1 point lost",
    premiumCalls: share,
    cost: between(({ cost }) => cost),
    quality: between(({ quality }) => quality),
    loss: between(({ loss }) => loss),
  };
}

/**
 * Two policies in which a check of the thrifty model's answer decides whether the premium model is called. In the second
 * one, the tasks that look hardest go to the premium model at once, if that is cheaper.
 */
function verified(
  routers: readonly Router[],
  choosing: readonly Task[],
  reporting: readonly Task[],
): PolicyFigures[] {
  const [router] = routers as [Router];
  const cheapest = curveOf(scored(choosing, router))
    .map(({ threshold }) => ({
      threshold,
      cost: figuresOf("", choosing, beyond(router, threshold)).cost,
    }))
    .reduce((best, it) => (it.cost < best.cost ? it : best));
  return [
    figuresOf("thrifty, checked, then premium", reporting, () => "checked"),
    figuresOf(
      `${router.name} and checked, cheapest threshold`,
      reporting,
      beyond(router, cheapest.threshold),
    ),
  ];
}

function beyond({ score }: Router, threshold: number): Decide {
  return (task) => (score(task) >= threshold ? "premium" : "checked");
}

function mean(tasks: readonly Task[], value: (task: Task) => number): number {
  return tasks.reduce((sum, task) => sum + value(task), 0) / tasks.length;
}
