import type { DispatchFigures } from "./measureDispatch.ts";
import type { SuiteFigures } from "./measureRouting.ts";
import type { ShadowFigures } from "./measureShadow.ts";
import type { Estimate } from "./metrics.ts";

/** The figures as Markdown, as in docs/dispatch-measured.md. */
export function printDispatch({ suites, shadow, seed, resamples, prices }: DispatchFigures): string {
  const { thrifty, premium } = prices;
  return [
    `Seed ${seed}, ${resamples} resamples. Prices: thrifty $${thrifty.input}/$${thrifty.output}, premium $${premium.input}/$${premium.output} a million tokens (input/output).`,
    "",
    ...table(
      ["tasks", "n", "thrifty", "premium", "router", "APGR", "95 % interval"],
      suites.flatMap(routerRows),
    ),
    "",
    ...table(
      ["tasks", "policy", "premium calls", "cost", "quality", "lost (points)"],
      suites.flatMap(({ suite, policies }) =>
        policies.map(({ policy, premiumCalls, cost, quality, loss }) => [
          ...[suite, policy, percent(premiumCalls), percent(cost), percent(quality), points(loss)],
        ]),
      ),
    ),
    "",
    ...table(
      ["tasks", "router", ...Array.from({ length: 11 }, (_, n) => `${n * 10} %`)],
      suites.flatMap(({ suite, routers }) =>
        routers.map(({ router, curve }) => [suite, router, ...curve.map(({ quality }) => percent(quality))]),
      ),
    ),
    "",
    ...table(
      [
        "executor",
        "kind",
        "compared",
        "n",
        "wrong",
        "AUROC",
        "95 % interval",
        "held",
        "of wrong ones held",
        "wrong of held",
      ],
      shadow.map(shadowRow),
    ),
    "",
  ].join("\n");
}

function routerRows({ suite, tasks, thriftyQuality, premiumQuality, routers }: SuiteFigures): string[][] {
  return routers.map(({ router, apgr }) => [
    ...[suite, String(tasks), percent(thriftyQuality), percent(premiumQuality), router, ...estimate(apgr)],
  ]);
}

function shadowRow(it: ShadowFigures): string[] {
  const { executor, kind, compared, answers, wrong, auroc, held, caught, precision } = it;
  return [
    ...[executor, kind, compared, String(answers), percent(wrong), ...estimate(auroc), percent(held)],
    ...[caught, precision].map((share) => (share === null ? "–" : percent(share))),
  ];
}

function table(head: string[], rows: string[][]): string[] {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
}

function estimate({ value, low, high }: Estimate): [string, string] {
  return [value.toFixed(3), `${low.toFixed(3)}–${high.toFixed(3)}`];
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

function points(share: number): string {
  const text = (share * 100).toFixed(1);
  return text === "-0.0" ? "0.0" : text;
}
