import type { TallyFigures } from "../insights/figures.ts";
import type { DayFigures, Series } from "../insights/series.ts";
import { builder } from "./builder.ts";
import type { QueryContext } from "./context.ts";
import { queryError } from "./errors.ts";

const MAX_DAYS = 366;

export const FiguresRef = builder.objectRef<TallyFigures>("HireFigures").implement({
  description:
    "Figures of a set of hires. Rates and averages are not weighted, and are null when the divisor is zero.",
  fields: (t) => ({
    hires: t.exposeInt("hires"),
    weightedHires: t.exposeFloat("weighted_hires", {
      description: "The number of hires, by weight: inside a cluster a hire weighs 1/size.",
    }),
    successes: t.exposeInt("successes"),
    failures: t.exposeInt("failures"),
    successRate: t.exposeFloat("success_rate", { nullable: true }),
    refunds: t.exposeInt("refunds"),
    disputes: t.exposeInt("disputes"),
    volumeUsdc: t.field({ type: "Usdc", resolve: (it) => it.volume_usdc }),
    avgLatencyMs: t.exposeFloat("avg_latency_ms", { nullable: true }),
  }),
});

const DayRef = builder.objectRef<DayFigures>("DayFigures").implement({
  fields: (t) => ({
    day: t.exposeString("day", { description: "UTC, such as 2026-01-31. Days without hires are left out." }),
    figures: t.field({ type: FiguresRef, resolve: (it) => it }),
  }),
});

export const SeriesRef = builder.objectRef<Series>("Series").implement({
  description: "Hires day by day, up to the day of the last tick, that day included.",
  fields: (t) => ({
    from: t.exposeString("from"),
    to: t.exposeString("to"),
    days: t.field({ type: [DayRef], resolve: ({ days }) => days }),
  }),
});

/**
 * Reads the number of days of a series, and takes it from the request's limit.
 *
 * @throws GraphQLError `INVALID_ARGUMENT`
 */
export function takeDays(days: number | null | undefined, { takeRows }: QueryContext): number {
  const asked = days ?? 30;
  if (asked < 1 || asked > MAX_DAYS) throw queryError("INVALID_ARGUMENT", `days must be 1 to ${MAX_DAYS}.`);
  takeRows(asked);
  return asked;
}
