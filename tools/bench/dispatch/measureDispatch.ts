import { seededRandom } from "tallystick-runtime/seededRandom";
import { PRICES } from "./costs.ts";
import { measureSuite, type RoutingOptions, type SuiteFigures } from "./measureRouting.ts";
import { measureShadow, type ShadowFigures } from "./measureShadow.ts";
import type { Task } from "./table.ts";

export type DispatchFigures = {
  seed: number;
  resamples: number;
  prices: typeof PRICES;
  suites: SuiteFigures[];
  shadow: ShadowFigures[];
};

/** Measures routing on every set of the table and on groups of sets, and shadows on the sets with known answers. */
export function measureDispatch(
  tasks: readonly Task[],
  { seed, resamples }: { seed: number; resamples: number },
): DispatchFigures {
  const [choosing, reporting] = halves(tasks, seededRandom(seed));
  const sets = [...new Set(tasks.map(({ set }) => set))];
  const mmlu = sets.filter((set) => set !== "gsm8k");
  const suites: [name: string, sets: string[]][] = [
    ...(sets.includes("gsm8k") ? [["gsm8k", ["gsm8k"]] as [string, string[]]] : []),
    ["mmlu", mmlu],
    ...mmlu.map((set): [string, string[]] => [`mmlu ${set}`, [set]]),
    ["all", sets],
  ];
  const options = (): RoutingOptions => ({ resamples, random: seededRandom(seed + 1) });
  return {
    ...{ seed, resamples, prices: PRICES },
    suites: suites.map(([name, of]) => {
      const isOf = ({ set }: Task) => of.includes(set);
      return measureSuite(name, choosing.filter(isOf), reporting.filter(isOf), options());
    }),
    shadow: measureShadow(tasks, options()),
  };
}

/** Splits tasks into two random halves. Each set is split evenly. */
export function halves(tasks: readonly Task[], random: () => number): [choosing: Task[], reporting: Task[]] {
  const [choosing, reporting]: [Task[], Task[]] = [[], []];
  for (const group of Map.groupBy(tasks, ({ set }) => set).values()) {
    const shuffled = [...group];
    for (let at = shuffled.length - 1; at > 0; at--) {
      const other = Math.floor(random() * (at + 1));
      [shuffled[at], shuffled[other]] = [shuffled[other] as Task, shuffled[at] as Task];
    }
    const middle = Math.floor(shuffled.length / 2);
    choosing.push(...shuffled.slice(0, middle));
    reporting.push(...shuffled.slice(middle));
  }
  return [choosing, reporting];
}
