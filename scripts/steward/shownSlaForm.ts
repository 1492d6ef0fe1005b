import { z } from "zod";
import { dateSeconds } from "./dateSeconds.ts";
import type { ShownSla } from "./slaStatusText.ts";

const guarantee = z.looseObject({
  metric: z.string(),
  measurement_window: z.string(),
  target: z.number(),
  breach_threshold: z.number(),
  current: z.number().nullable(),
  status: z.string(),
  buffer: z.number().nullable(),
  days_until_breach: z.number().nullable(),
  bound_until: dateSeconds.nullable(),
});

const breach = z.looseObject({
  id: z.string(),
  metric: z.string(),
  status: z.string(),
  detected_at: dateSeconds,
  closed_at: dateSeconds.nullable(),
});

const difference = z.looseObject({
  metric: z.string(),
  measurement_window: z.string(),
  measured: z.number().nullable(),
  claimed: z.number().nullable(),
});

/** The form of an SLA's status, as far as people are shown it. */
export const shownSlaForm = z.looseObject({
  agent_id: z.string(),
  sla_status: z
    .looseObject({
      overall_status: z.string(),
      version: z.string(),
      guarantees: z.array(guarantee),
      recent_breaches: z.array(breach),
      penalties_applied: z.array(
        z.looseObject({ breach: z.string(), type: z.string(), recovery_days_left: z.number() }),
      ),
      trust_score_impact: z.number(),
      sla_tier: z.string(),
      suspended_until: dateSeconds.nullable(),
      own_monitoring: z
        .array(
          z.looseObject({
            prober: z.string(),
            asked_at: dateSeconds,
            differences: z.array(difference),
          }),
        )
        .optional(),
    })
    .nullable(),
  as_of: z.looseObject({ block: z.int(), time: dateSeconds }),
}) satisfies z.ZodType<ShownSla>;
