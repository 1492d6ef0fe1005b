import { createRoute, z } from "@hono/zod-openapi";
import { badRequest, json, problem } from "../rest/routes.ts";

// The REST routes for aliases (STEWARD), as data.

const alias = z
  .string()
  .regex(
    /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/,
    "must be lower-case letters, digits and hyphens, at most 63",
  )
  .openapi({
    param: { name: "alias", in: "path" },
    description: "The name that an agent claims in its latest attestation",
  });

export const aliasRoute = createRoute({
  method: "get",
  path: "/v1/aliases/{alias}",
  operationId: "getAlias",
  tags: ["Trust scores"],
  summary: "The agent that an alias means",
  description:
    "An alias is what an agent calls itself in its latest attestation. It means an agent only while nobody else claims it: never pay by an alias.",
  request: { params: z.object({ alias }) },
  responses: {
    200: json("The one agent that claims it", z.object({ alias: z.string(), agent_id: z.string() })),
    ...badRequest,
    404: problem("No agent claims it"),
    409: problem("More than one agent claims it"),
  },
});
