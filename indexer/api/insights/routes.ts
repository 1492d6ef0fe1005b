import { createRoute } from "@hono/zod-openapi";
import { badRequest, json, notModified, problem, unknownAgent } from "../rest/routes.ts";
import { agentParams, pageQuery } from "../rest/schemas.ts";
import * as schemas from "./schemas.ts";

// The insights of SHP §9.2, as data.

const tags = ["Insights"];
const paid = {
  402: { description: "The operator asks for an x402 payment; the header PAYMENT-REQUIRED has the terms" },
};
const isPrivate = { 403: problem("The agent publishes coarse metrics only") };

export const agentSeriesRoute = createRoute({
  method: "get",
  path: "/v1/insights/agents/{id}/series",
  operationId: "getAgentSeries",
  tags,
  summary: "An agent's hires as the seller, day by day",
  request: { params: agentParams, query: schemas.daysQuery },
  responses: {
    200: json("Days with hires, oldest first", schemas.agentSeriesResponse),
    ...notModified,
    ...badRequest,
    ...paid,
    ...isPrivate,
    ...unknownAgent,
  },
});

export const agentPercentilesRoute = createRoute({
  method: "get",
  path: "/v1/insights/agents/{id}/percentiles",
  operationId: "getAgentPercentiles",
  tags,
  summary: "Latency and price percentiles of an agent's hires, by the trust tier of the buyer",
  request: { params: agentParams },
  responses: {
    200: json("By tier", schemas.agentPercentilesResponse),
    ...notModified,
    ...badRequest,
    ...paid,
    ...isPrivate,
    ...unknownAgent,
  },
});

export const agentHistoryRoute = createRoute({
  method: "get",
  path: "/v1/insights/agents/{id}/history",
  operationId: "getAgentHistory",
  tags,
  summary: "An agent's rates as the seller, day by day",
  description:
    "Each day has the rates over the thirty days that end with it. They are computed from whole days, and from the outcomes as they are " +
    "known now. So the figure that was published on a day may differ.",
  request: { params: agentParams, query: schemas.daysQuery },
  responses: {
    200: json("Every day, oldest first", schemas.agentHistoryResponse),
    ...notModified,
    ...badRequest,
    ...paid,
    ...isPrivate,
    ...unknownAgent,
  },
});

export const trendsRoute = createRoute({
  method: "get",
  path: "/v1/insights/capabilities",
  operationId: "listCapabilityTrends",
  tags,
  summary: "What agents are hired for: the window, this week and the week before",
  request: { query: pageQuery },
  responses: {
    200: json("Most hired first, by weighted hires", schemas.trendsResponse),
    ...notModified,
    ...badRequest,
    ...paid,
  },
});

export const capabilitySeriesRoute = createRoute({
  method: "get",
  path: "/v1/insights/capabilities/{capability}/series",
  operationId: "getCapabilitySeries",
  tags,
  summary: "A capability's volume and quality, day by day",
  request: { params: schemas.capabilityParams, query: schemas.daysQuery },
  responses: {
    200: json("Days with hires, oldest first", schemas.capabilitySeriesResponse),
    ...notModified,
    ...badRequest,
    ...paid,
  },
});

export const leaderboardRoute = createRoute({
  method: "get",
  path: "/v1/insights/capabilities/{capability}/leaderboard",
  operationId: "listCapabilityLeaders",
  tags,
  summary: "Who is hired most for a capability",
  description: "By weighted hires in the window. Agents with private metrics are left out.",
  request: { params: schemas.capabilityParams, query: pageQuery },
  responses: {
    200: json("Most hired first", schemas.leaderboardResponse),
    ...notModified,
    ...badRequest,
    ...paid,
  },
});

export const capabilityPercentilesRoute = createRoute({
  method: "get",
  path: "/v1/insights/capabilities/{capability}/percentiles",
  operationId: "getCapabilityPercentiles",
  tags,
  summary: "Latency and price percentiles of a capability's hires, by the trust tier of the buyer",
  request: { params: schemas.capabilityParams },
  responses: {
    200: json("By tier", schemas.capabilityPercentilesResponse),
    ...notModified,
    ...badRequest,
    ...paid,
  },
});
