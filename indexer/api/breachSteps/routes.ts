import { createRoute, z } from "@hono/zod-openapi";
import { breachSteps } from "tallystick-protocol/notices/notice";
import { badRequest, json, notModified } from "../rest/routes.ts";
import { nextCursor, pageQuery } from "../rest/schemas.ts";

// The REST routes for the steps of SLA breaches (STEWARD), as data.

const figure = z.string().openapi({ description: "A share, or milliseconds" });

const step = z
  .object({
    agent: z.string(),
    breach: z.string(),
    step: z.enum(breachSteps),
    record: z
      .string()
      .nullable()
      .openapi({ description: "The ledger entry that caused it; null if a deadline caused it" }),
    block: z.int(),
    time: z.int().openapi({ description: "Unix seconds" }),
    metric: z.string(),
    window_days: z.int(),
    target: figure,
    breach_threshold: figure,
    value: figure.openapi({ description: "The figure that was measured" }),
    penalty: z.looseObject({ type: z.string() }),
    suspension: z.object({ from: z.int(), until: z.int() }).nullable().openapi({
      description: "The time in which the agent takes no new hires because of the breach, unix seconds",
    }),
  })
  .openapi("BreachStep");

export type BreachStepJson = z.infer<typeof step>;

export const breachStepsRoute = createRoute({
  method: "get",
  path: "/v1/breach-steps",
  operationId: "listBreachSteps",
  tags: ["SLAs"],
  summary: "What happened to breaches of SLAs, in order: detected, disputed, ruled, confirmed, closed, paid",
  description:
    "Only steps in final blocks are given, so none is taken back later. To follow them, ask for the steps from `final_block` + 1 on: no step is " +
    "added to the blocks up to `final_block` any more.",
  request: {
    query: pageQuery.extend({
      from_block: z.coerce
        .number<string>()
        .int()
        .min(0)
        .max(1_000_000_000_000)
        .default(0)
        .openapi({ description: "First block" }),
    }),
  },
  responses: {
    200: json(
      "Steps in the order of the log",
      z.object({ steps: z.array(step), next_cursor: nextCursor, final_block: z.int() }),
    ),
    ...notModified,
    ...badRequest,
  },
});
