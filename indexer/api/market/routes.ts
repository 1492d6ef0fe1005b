import { createRoute } from "@hono/zod-openapi";
import { daysQuery } from "../insights/schemas.ts";
import { badRequest, json, notModified, problem, unknownAgent } from "../rest/routes.ts";
import { agentParams } from "../rest/schemas.ts";
import * as schemas from "./schemas.ts";

// The routes for dashboards and explorers, as data.

export const marketRoute = createRoute({
  method: "get",
  path: "/v1/market",
  operationId: "getMarket",
  tags: ["Market"],
  summary: "The whole market: counts, totals, and hires day by day",
  request: { query: daysQuery },
  responses: {
    200: json("As of the last tick", schemas.marketResponse),
    ...notModified,
    ...badRequest,
  },
});

export const capabilitiesRoute = createRoute({
  method: "get",
  path: "/v1/capabilities",
  operationId: "listCapabilities",
  tags: ["Market"],
  summary: "What is offered: listings, sellers and prices by capability",
  request: { query: schemas.capabilitiesQuery },
  responses: {
    200: json("A page of capabilities", schemas.capabilitiesResponse),
    ...notModified,
    ...badRequest,
  },
});

export const clustersRoute = createRoute({
  method: "get",
  path: "/v1/clusters",
  operationId: "listClusters",
  tags: ["Clusters"],
  summary: "Clusters in the order in which they formed, or the largest first",
  request: { query: schemas.clustersQuery },
  responses: { 200: json("A page of clusters", schemas.clustersResponse), ...notModified, ...badRequest },
});

export const graphRoute = createRoute({
  method: "get",
  path: "/v1/clusters/{id}/graph",
  operationId: "getClusterGraph",
  tags: ["Clusters"],
  summary: "A cluster with the evidence for its signals",
  description:
    "Members, the wallets whose money reached them in at most three transfers, these transfers, and the signals (SHP §4.5.1). The id " +
    "may name a cluster that was merged into another cluster.",
  request: { params: schemas.clusterParams, query: schemas.graphQuery },
  responses: {
    200: json("The graph", schemas.graphResponse),
    ...notModified,
    ...badRequest,
    404: problem("There is no such cluster"),
  },
});

export const counterpartiesRoute = createRoute({
  method: "get",
  path: "/v1/agents/{id}/counterparties",
  operationId: "listCounterparties",
  tags: ["Agents"],
  summary: "The agents with which an agent had hires, the most hires first",
  request: { params: agentParams, query: schemas.counterpartiesQuery },
  responses: {
    200: json("A page of agents", schemas.counterpartiesResponse),
    ...notModified,
    ...badRequest,
    ...unknownAgent,
  },
});

export const escrowRoute = createRoute({
  method: "get",
  path: "/v1/escrows/{id}",
  operationId: "getEscrow",
  tags: ["Escrows"],
  summary: "An escrow, and the transactions that changed it",
  request: { params: schemas.escrowParams },
  responses: {
    200: json("The escrow", schemas.escrowResponse),
    ...notModified,
    ...badRequest,
    404: problem("No configured contract holds or held it"),
  },
});
