import { expect } from "chai";
import fc from "fast-check";
import { seededRandom } from "tallystick-runtime/seededRandom";
import { halves, measureDispatch } from "../../../tools/bench/dispatch/measureDispatch.ts";
import {
  apgr,
  auroc,
  bootstrap,
  curveOf,
  type Flagged,
  type Scored,
} from "../../../tools/bench/dispatch/metrics.ts";
import { printDispatch } from "../../../tools/bench/dispatch/printDispatch.ts";
import { readTable } from "../../../tools/bench/dispatch/table.ts";

const scored: fc.Arbitrary<Scored[]> = fc.array(
  fc.record({
    score: fc.integer({ min: -4, max: 6 }),
    thriftyRight: fc.boolean(),
    premiumRight: fc.boolean(),
  }),
  { minLength: 2, maxLength: 24 },
);
const flagged: fc.Arbitrary<Flagged[]> = fc.array(
  fc.record({ score: fc.integer({ min: 0, max: 5 }), isWrong: fc.boolean() }),
  { minLength: 2, maxLength: 24 },
);

/**
 * A slow APGR (average performance gap recovered). It counts all tasks again for every threshold, and draws a
 * straight line between two thresholds.
 */
function slowApgr(tasks: Scored[]): number {
  const quality = (isPremium: (task: Scored) => boolean) =>
    tasks.filter((task) => (isPremium(task) ? task.premiumRight : task.thriftyRight)).length / tasks.length;
  const thresholds = [...new Set(tasks.map(({ score }) => score))].sort((a, b) => b - a);
  const points = [Number.POSITIVE_INFINITY, ...thresholds].map((threshold) => ({
    x: tasks.filter(({ score }) => score >= threshold).length / tasks.length,
    y: quality(({ score }) => score >= threshold),
  }));
  const [none, all] = [quality(() => false), quality(() => true)];
  let area = 0;
  for (let n = 1; n < points.length; n++) {
    const [a, b] = [points[n - 1], points[n]] as [{ x: number; y: number }, { x: number; y: number }];
    const recovered = (y: number) => (y - none) / (all - none);
    area += (b.x - a.x) * ((recovered(a.y) + recovered(b.y)) / 2);
  }
  return area;
}

/** A slow AUROC (area under the ROC curve). It compares every pair of a wrong and a right answer. */
function slowAuroc(answers: Flagged[]): number {
  let [won, pairs] = [0, 0];
  for (const wrong of answers.filter(({ isWrong }) => isWrong))
    for (const right of answers.filter(({ isWrong }) => !isWrong)) {
      pairs++;
      won += wrong.score > right.score ? 1 : wrong.score === right.score ? 0.5 : 0;
    }
  return won / pairs;
}

function expectSame(fast: number, slow: number): void {
  if (Number.isNaN(fast)) expect(Number.isFinite(slow), "a divisor is zero").to.equal(false);
  else expect(fast).to.be.closeTo(slow, 1e-9);
}

/** What weights mean: each item is repeated as many times as its weight. */
const repeated = <T>(items: T[], weights: readonly number[]) =>
  items.flatMap((item, at) => new Array<T>(weights[at] ?? 0).fill(item));

describe("the figures of routing and of shadows", () => {
  it("have an APGR that equals a slow count over every threshold, with and without weights", () => {
    fc.assert(
      fc.property(scored, fc.array(fc.nat(3), { minLength: 24, maxLength: 24 }), (tasks, weights) => {
        expectSame(apgr(tasks), slowApgr(tasks));
        const drawn = repeated(tasks, weights);
        if (drawn.length > 0) expectSame(apgr(tasks, weights), slowApgr(drawn));
      }),
    );
  });

  it("have an AUROC that equals a slow count over every pair, with and without weights", () => {
    fc.assert(
      fc.property(flagged, fc.array(fc.nat(3), { minLength: 24, maxLength: 24 }), (answers, weights) => {
        expectSame(auroc(answers), slowAuroc(answers));
        expectSame(auroc(answers, weights), slowAuroc(repeated(answers, weights)));
      }),
    );
  });

  it("have the same intervals as a slow bootstrap that draws one by one, and again the same for the same seed", () => {
    const random = seededRandom(4);
    const answers = Array.from({ length: 40 }, (): Flagged => {
      const isWrong = random() < 0.3;
      return { score: random() + (isWrong ? 0.3 : 0), isWrong };
    });
    const options = () => ({ resamples: 300, random: seededRandom(7) });
    const fast = bootstrap(answers.length, (weights) => auroc(answers, weights), options());
    const draw = seededRandom(7);
    const slow = Array.from({ length: 300 }, () =>
      slowAuroc(answers.map(() => answers[Math.floor(draw() * answers.length)] as Flagged)),
    )
      .filter((value) => !Number.isNaN(value))
      .sort((a, b) => a - b);
    expect(fast.value).to.be.closeTo(slowAuroc(answers), 1e-9);
    expect(fast.low).to.be.closeTo(slow[Math.floor(0.025 * slow.length)] as number, 1e-9);
    expect(fast.high).to.be.closeTo(slow[Math.floor(0.975 * slow.length)] as number, 1e-9);
    expect(bootstrap(answers.length, (weights) => auroc(answers, weights), options())).to.deep.equal(fast);
  });

  it("are correct in simple cases", () => {
    const task = (score: number, thriftyRight: boolean, premiumRight: boolean) => ({
      ...{ score, thriftyRight, premiumRight },
    });
    const known = [task(2, false, true), task(1, true, true), task(0, true, true)];
    expect(curveOf(known).map(({ quality }) => quality)).to.deep.equal([2 / 3, 1, 1, 1]);
    expect(apgr(known)).to.be.closeTo(5 / 6, 1e-12);
    expect(apgr(known.map((it) => ({ ...it, score: 0 }))), "by chance").to.be.closeTo(1 / 2, 1e-12);
    expect(apgr([task(0, true, true)]), "nothing to gain").to.satisfy(Number.isNaN);
    const answers = [
      { score: 1, isWrong: true },
      { score: 0, isWrong: false },
    ];
    expect([auroc(answers), auroc(answers.map((it) => ({ ...it, score: 0 })))]).to.deep.equal([1, 0.5]);
    expect(auroc([{ score: 1, isWrong: true }])).to.satisfy(Number.isNaN);
  });

  it("come from two halves with equal parts of each set, and are all in a small run of the whole measurement", () => {
    const tasks = readTable().filter((_, at) => at % 12 === 0);
    const [choosing, reporting] = halves(tasks, seededRandom(1));
    const both = new Set([...choosing, ...reporting]);
    expect(tasks.filter((task) => !both.has(task))).to.deep.equal([]);
    expect(choosing.length + reporting.length).to.equal(tasks.length);
    expect(Math.abs(choosing.length - reporting.length)).to.be.at.most(5);
    const figures = measureDispatch(tasks, { seed: 1, resamples: 20 });
    expect(measureDispatch(tasks, { seed: 1, resamples: 20 })).to.deep.equal(figures);
    expect(figures.suites.map(({ suite }) => suite)).to.include.members(["gsm8k", "mmlu", "all"]);
    for (const { suite, policies, premiumQuality } of figures.suites) {
      const [premium] = policies;
      expect(premium, suite).to.deep.include({ premiumCalls: 1, cost: 1, quality: premiumQuality, loss: 0 });
      const oracle = policies.find(({ policy }) => policy === "oracle");
      for (const { quality } of policies) expect(quality).to.be.at.most(oracle?.quality ?? 0);
      const isChecked = policies.some(({ policy }) => policy.includes("checked"));
      expect(isChecked, "only for the set whose answers are known").to.equal(suite === "gsm8k");
    }
    expect(new Set(figures.shadow.map(({ answers, kind }) => `${kind} ${answers}`)).size).to.equal(5);
    expect(printDispatch(figures)).to.match(/\| all \| oracle \|/);
  });
});
