import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { settlementFigures } from "tallystick-derive/settlementTrust/settlementFigures";
import { settlementLevels } from "tallystick-derive/settlementTrust/trustOf";
import { TallystickError } from "tallystick-protocol/errors";
import type { Database } from "../database.ts";
import { rowsById } from "../rows/rowsById.ts";
import { badRequest, json, notModified, problem } from "./routes.ts";
import { agentParams } from "./schemas.ts";

const count = z.int();

const settlementTrust = z
  .object({
    agent_id: z.string().openapi({ description: "Wallet address, lower case" }),
    source: z
      .literal("operator")
      .openapi({ description: "Who states the figures. Nobody except the operator can count rejected work" }),
    trust: z.number().openapi({ description: "The percentile less the mean divergence, at least 0" }),
    level: z.enum(settlementLevels),
    percentile: z.number(),
    mean_divergence: z.number().nullable(),
    settled: count,
    rejected: count,
    settled_complexity: z.number().openapi({ description: "Summed, in tasks of complexity 1" }),
    rejected_complexity: z.number(),
    compared: count,
    last_hour: count.openapi({ description: "Unix seconds / 3600" }),
  })
  .openapi("SettlementTrust");

export const settlementTrustRoute = createRoute({
  method: "get",
  path: "/v1/agents/{id}/settlement-trust",
  operationId: "getSettlementTrust",
  tags: ["Agents"],
  summary: "Settlement's figures for an agent's proposals: the operator states them, and they are advice",
  description:
    "The 5th percentile of Beta(1 + complexity settled, 2 + complexity rejected), minus the mean divergence (swarm.at §13). No figure, tier or " +
    "score depends on it.",
  request: { params: agentParams },
  responses: {
    200: json("The figures as of the last record of outcomes", settlementTrust),
    ...notModified,
    ...badRequest,
    404: problem("No outcome of its proposals was reported"),
  },
});

/** Adds the REST routes of settlement's trust. */
export function serveSettlementTrust(app: OpenAPIHono, db: Database): void {
  app.openapi(settlementTrustRoute, async (context) => {
    const { id } = context.req.valid("param");
    const [row] = await rowsById(db, "settlementTrust", [id]);
    if (row === undefined) {
      throw new TallystickError({
        code: "unknown_agent",
        message: `No outcome of proposals of ${id} was reported.`,
        hint: "The operator reports outcomes only of agents that have a key from it (tallystick keys add NAME --agent ADDRESS).",
      });
    }
    return context.json({ agent_id: row.id, source: "operator" as const, ...settlementFigures(row) }, 200);
  });
}
