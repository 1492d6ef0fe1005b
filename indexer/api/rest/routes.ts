import { createRoute, type z } from "@hono/zod-openapi";
import { streamQuery } from "../stream/streamRequest.ts";
import * as schemas from "./schemas.ts";

// Every REST route, as data: the app serves them, and /openapi.json describes them.

export function json(description: string, schema: z.ZodType) {
  return { description, content: { "application/json": { schema } } };
}

export function problem(description: string) {
  return { description, content: { "application/problem+json": { schema: schemas.problemSchema } } };
}

export const badRequest = { 400: problem("A field is missing or wrong; `errors` names every one") };
export const notModified = {
  304: { description: "Nothing new since the block of the tag in If-None-Match" },
};
export const unknownAgent = { 404: problem("This address is not an agent") };

export const searchRoute = createRoute({
  method: "post",
  path: "/v1/search",
  operationId: "searchListings",
  tags: ["Discovery"],
  summary: "Search live listings of a capability",
  description:
    "All filters are optional except `capability`. A rate that is null passes no minimum. The order is published by /v1/params " +
    "(`search_ranking`) and is the same on every node (SHP §6).",
  request: { body: { required: true, content: { "application/json": { schema: schemas.searchRequest } } } },
  responses: { 200: json("Matches in the published order", schemas.searchResponse), ...badRequest },
});

export const reputationRoute = createRoute({
  method: "get",
  path: "/v1/agents/{id}/reputation",
  operationId: "getReputation",
  tags: ["Agents"],
  summary: "An agent's reputation",
  description:
    "The fields of SHP §9.2. When one of its live listings asks for private metrics, the values are published buckets.",
  request: { params: schemas.agentParams },
  responses: {
    200: json("The agent's fields as of the last tick", schemas.reputationResponse),
    ...notModified,
    ...badRequest,
    ...unknownAgent,
  },
});

export const clusterRoute = createRoute({
  method: "get",
  path: "/v1/agents/{id}/cluster",
  operationId: "getAgentCluster",
  tags: ["Agents"],
  summary: "The cluster that an agent is in, and the other members",
  description: "Clusters are public (SHP §4.5.2). Hires inside a cluster weigh 1/cluster_size.",
  request: { params: schemas.agentParams, query: schemas.pageQuery },
  responses: {
    200: json("The cluster; cluster_id is null for an agent in no cluster", schemas.clusterResponse),
    ...notModified,
    ...badRequest,
    ...unknownAgent,
  },
});

export const listingsRoute = createRoute({
  method: "get",
  path: "/v1/agents/{id}/listings",
  operationId: "listAgentListings",
  tags: ["Agents"],
  summary: "All listings of an agent",
  request: { params: schemas.agentParams, query: schemas.pageQuery },
  responses: {
    200: json("Its listings, retired ones too", schemas.listingsResponse),
    ...notModified,
    ...badRequest,
    ...unknownAgent,
  },
});

export const receiptsRoute = createRoute({
  method: "get",
  path: "/v1/agents/{id}/receipts",
  operationId: "listAgentReceipts",
  tags: ["Agents"],
  summary: "The receipts that an agent signed as the seller",
  description:
    "The latest first, each with the hire that it counted as. Receipts are public: they stand in the ledger.",
  request: { params: schemas.agentParams, query: schemas.pageQuery },
  responses: {
    200: json("Its receipts", schemas.receiptsResponse),
    ...notModified,
    ...badRequest,
    ...unknownAgent,
  },
});

export const paramsRoute = createRoute({
  method: "get",
  path: "/v1/params",
  operationId: "getParams",
  tags: ["Node"],
  summary: "The parameters and trust roots in force",
  responses: {
    200: json(
      "Parameters, where reputation fields come from, and the order of search results",
      schemas.paramsResponse,
    ),
    ...notModified,
    503: problem("Nothing has been indexed yet"),
  },
});

export const streamRoute = createRoute({
  method: "get",
  path: "/v1/stream",
  operationId: "openStream",
  tags: ["Node"],
  summary: "Hires, ratings, tier changes, anchors, audits and breaches of SLAs as they happen, by WebSocket",
  description:
    "JSON messages `{ type, position, data }` in the order of the log: `hire`, `rating`, `tier_change`, `anchor`, " +
    "`audit_drawn`, `audit_assigned`, `audit_verdict`, `audit_ended`, `audit_decided`, `sla_step`; `hello` first, " +
    "`heartbeat` every 15 s with the block and digest, and `reorg` when blocks after `position` were taken back. Reconnect with " +
    "`from` set to the last position heard: nothing is missed or told twice, on any replica (SHP §10).",
  request: { query: streamQuery },
  responses: {
    101: { description: "The stream begins" },
    ...badRequest,
    426: problem("Not a WebSocket request"),
    503: problem("This node cannot stream to more clients now"),
  },
});
