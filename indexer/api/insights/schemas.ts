import { z } from "@hono/zod-openapi";
import { capabilitySchema } from "tallystick-protocol/capabilitySchema";

// The inputs and outputs of the insights routes.

const rate = (description: string) => z.number().nullable().openapi({ description });
const nextCursor = z.string().nullable();
const date = z.string().openapi({ description: "A day, UTC", example: "2026-01-31" });

export const capabilityParams = z.object({
  capability: capabilitySchema
    .clone()
    .openapi({ param: { name: "capability", in: "path" }, example: "text.translate.en.it" }),
});

export const daysQuery = z.object({
  days: z
    .string()
    .regex(/^[1-9][0-9]{0,2}$/, "must be a whole number from 1 to 366")
    .transform(Number)
    .refine((it) => it <= 366, "must be at most 366")
    .default(30)
    .openapi({ param: { name: "days", in: "query" }, type: "integer", minimum: 1, maximum: 366 }),
});

const tallyFields = {
  hires: z.int(),
  weighted_hires: z.number().openapi({ description: "Inside a cluster a hire weighs 1/size" }),
  successes: z.int(),
  failures: z.int(),
  success_rate: rate("Successes divided by successes and failures, not dampened"),
  refunds: z.int(),
  disputes: z.int(),
  volume_usdc: z.string(),
  avg_latency_ms: rate("The average of the hires whose latency is known"),
};
export const tally = z.object(tallyFields);

export const seriesFields = { from: date, to: date, days: z.array(z.object({ day: date, ...tallyFields })) };

export const agentSeriesResponse = z.object({ agent_id: z.string(), ...seriesFields }).openapi("AgentSeries");
export const capabilitySeriesResponse = z
  .object({ capability: z.string(), ...seriesFields })
  .openapi("CapabilitySeries");

export const leaderboardResponse = z
  .object({
    capability: z.string(),
    leaders: z.array(
      z.object({
        agent_id: z.string(),
        trust_tier: z.int(),
        success_rate: rate("The agent's success rate over all capabilities"),
        avg_stars: rate("The agent's average over all capabilities"),
        cluster_id: z.string().nullable(),
        in_capability: tally,
      }),
    ),
    next_cursor: nextCursor,
  })
  .openapi("Leaderboard");

export const trendsResponse = z
  .object({
    capabilities: z.array(
      z.object({ capability: z.string(), window: tally, last_7_days: tally, previous_7_days: tally }),
    ),
    next_cursor: nextCursor,
  })
  .openapi("CapabilityTrends");

const spread = <T extends z.ZodType>(value: T) => z.object({ p50: value, p95: value, p99: value });

const percentileFields = {
  sample: z.int().openapi({ description: "The latest hires of the window that were looked at" }),
  complete: z.boolean().openapi({ description: "Whether these are all hires of the window" }),
  by_buyer_trust_tier: z.array(
    z.object({
      buyer_trust_tier: z.int().openapi({ description: "The present tier of the buyers" }),
      hires: z.int(),
      success_rate: rate("The success rate, not dampened"),
      latency_ms: spread(z.number()).nullable(),
      price_usdc: spread(z.string()),
    }),
  ),
};

export const agentPercentilesResponse = z
  .object({ agent_id: z.string(), ...percentileFields })
  .openapi("AgentPercentiles");
export const capabilityPercentilesResponse = z
  .object({ capability: z.string(), ...percentileFields })
  .openapi("CapabilityPercentiles");

export const agentHistoryResponse = z
  .object({
    agent_id: z.string(),
    from: date,
    to: date,
    window_days: z.int().openapi({ description: "The number of days over which each figure is computed" }),
    days: z.array(
      z.object({
        day: date,
        hires: z.int(),
        weighted_hires: z.number(),
        success_rate: rate("Dampened inside clusters, like the published rate"),
        avg_latency_ms: rate("The average of the hires whose latency is known"),
        volume_usdc: z.string(),
      }),
    ),
  })
  .openapi("AgentHistory");
