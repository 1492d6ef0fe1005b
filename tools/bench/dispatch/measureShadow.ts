import { divergence } from "../../../services/settlement/engine/divergence.ts";
import { DEFAULT_OVERLAP } from "../../../services/settlement/engine/textComparators.ts";
import type { RoutingOptions } from "./measureRouting.ts";
import { auroc, bootstrap, type Estimate, type Flagged, orderOf } from "./metrics.ts";
import type { Answers, Task } from "./table.ts";

/** Settlement's default for `max_drift_allowed`. Proposals above it are held. */
const MAX_DRIFT = 0.15;

/** How well divergence separates wrong answers from right ones. Shares of 1; null where the divisor is zero. */
export type ShadowFigures = {
  /** The model that answered. The other model was the shadow. */
  executor: "thrifty" | "premium";
  kind: string;
  /** `value`: the last numbers are compared. Otherwise settlement's comparator of this name compares the whole texts. */
  compared: "value" | "exact" | "normalised" | "overlap/1";
  answers: number;
  wrong: number;
  auroc: Estimate;
  /**
   * At the default drift: the share of all answers that is held, the share of wrong answers that is held, and
   * the share of held answers that is wrong.
   */
  held: number;
  caught: number | null;
  precision: number | null;
};

type Compared = ShadowFigures["compared"];

/** Measures the shadow on all tasks with known answers. Nothing is fitted to the tasks, so all of them count. */
export function measureShadow(tasks: readonly Task[], options: RoutingOptions): ShadowFigures[] {
  const known = tasks.filter((task): task is Task & { answers: Answers } => task.answers !== undefined);
  const kinds = ["all", ...new Set(known.map(({ kind }) => kind))];
  const figures: ShadowFigures[] = [];
  for (const executor of ["premium", "thrifty"] as const) {
    for (const kind of kinds) {
      const here = known.filter((task) => kind === "all" || task.kind === kind);
      for (const compared of ["value", "overlap/1", "normalised", "exact"] as const)
        figures.push(figuresOf(executor, kind, compared, here, options));
    }
  }
  return figures;
}

function figuresOf(
  executor: ShadowFigures["executor"],
  kind: string,
  compared: Compared,
  tasks: readonly (Task & { answers: Answers })[],
  options: RoutingOptions,
): ShadowFigures {
  const flagged = tasks.map(
    ({ answers, thriftyRight, premiumRight }): Flagged => ({
      score: scoreOf(answers, compared),
      isWrong: executor === "premium" ? !premiumRight : !thriftyRight,
    }),
  );
  const order = orderOf(flagged);
  const wrong = flagged.filter(({ isWrong }) => isWrong).length;
  const isHeld = ({ score }: Flagged) =>
    score > (compared === "overlap/1" ? 1 - DEFAULT_OVERLAP / 1_000 : MAX_DRIFT);
  const held = flagged.filter(isHeld);
  const caught = held.filter(({ isWrong }) => isWrong).length;
  return {
    ...{ executor, kind, compared, answers: flagged.length, wrong: wrong / flagged.length },
    auroc: bootstrap(flagged.length, (weights) => auroc(flagged, weights, order), options),
    held: held.length / flagged.length,
    caught: wrong === 0 ? null : caught / wrong,
    precision: held.length === 0 ? null : caught / held.length,
  };
}

/**
 * The divergence of two answers, from 0 to 1. For `overlap/1` it is 1 minus the highest overlap at which the
 * texts are called equal, or 2 if there is no such overlap.
 */
function scoreOf({ thrifty, premium, overlap, normalised, exact }: Answers, compared: Compared): number {
  if (compared === "value") return divergence({ answer: numberOf(thrifty) }, { answer: numberOf(premium) });
  if (compared === "overlap/1") return overlap < 0 ? 2 : 1 - overlap / 1_000;
  return (compared === "exact" ? exact : normalised) ? 0 : 1;
}

/** The last number of an answer as a JSON value; null for an answer without a number. */
function numberOf(text: string): bigint | number | null {
  if (text === "") return null;
  return text.includes(".") ? Number(text) : BigInt(text);
}
