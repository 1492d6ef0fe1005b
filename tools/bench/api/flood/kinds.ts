import { getIntrospectionQuery } from "graphql";
import { address, capabilityOf, type MarketSize } from "../loadMarket.ts";

/** A request that a flood repeats, and whether it hangs up as soon as it is answered. */
export type FloodRequest = {
  method: string;
  path: string;
  headers?: { [name: string]: string };
  body?: string;
  hangsUp?: boolean;
};

/** One way to flood a node, on this many connections at a time. */
export type FloodKind = {
  name: string;
  connections: number;
  /** The request that each connection repeats; undefined: the connection opens and sends nothing. */
  request?: FloodRequest;
  /** How often a connection sends the request without waiting for an answer. Default once. */
  pipelined?: number;
  /** A client cannot do this through a proxy, so it is always measured without one. */
  isDirect?: boolean;
  /** Bytes of a body that the headers announce. It is sent as fast as the server reads it. */
  bodyBytes?: number;
};

const CONNECTIONS = 64;
/** As many requests as a proxy passes on for one client at the same time. */
const PROXY_CONNECTIONS = 256;
/** More connections than one address may have. */
const TOO_MANY_CONNECTIONS = 512;

const graphql = (query: string, accept = "application/json"): FloodRequest => ({
  method: "POST",
  path: "/graphql",
  headers: { "content-type": "application/json", accept },
  body: JSON.stringify({ query: `# 00000000\n${query}` }),
});

const aliases = (count: number, one: string) =>
  Array.from({ length: count }, (_, n) => `a${n}: ${one}`).join(" ");

const upgrade = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
};

/**
 * The floods that one client can send: the most expensive answered requests, the most expensive refused
 * requests, and others.
 */
export function floodKinds({ agents }: MarketSize): FloodKind[] {
  const search = {
    capability: capabilityOf(1, agents),
    min_success_rate: 0.99,
    min_avg_stars: 4.9,
    limit: 50,
  };
  const kind = (name: string, request: FloodRequest): FloodKind => ({
    name,
    connections: CONNECTIONS,
    request,
  });
  return [
    kind("cheap GraphQL", graphql("{ meta { block } }")),
    {
      ...kind("cheap GraphQL on 256 connections", graphql("{ meta { block } }")),
      connections: PROXY_CONNECTIONS,
    },
    kind("health checks", { method: "GET", path: "/health" }),
    kind("costly GraphQL", graphql(`{ ${aliases(20, "agents(first: 50) { nodes { id successRate } }")} }`)),
    kind(
      "one agent's funding graph",
      graphql(
        `{ ${aliases(5, `fundingGraph(agent: "${address(7)}", depth: 2) { nodes { address } edges { from to } }`)} }`,
      ),
    ),
    kind("introspection", graphql(getIntrospectionQuery())),
    kind(
      "GraphQL refused for its form",
      graphql(`{ ${aliases(400, "agents(first: 100) { nodes { id } }")} }`),
    ),
    kind("REST search", {
      method: "POST",
      path: "/v1/search",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(search),
    }),
    kind("subscriptions, opened and dropped", {
      ...graphql("subscription { hireCounted { position } }", "text/event-stream"),
      hangsUp: true,
    }),
    kind("WebSockets, opened and dropped", {
      method: "GET",
      path: "/v1/stream",
      headers: upgrade,
      hangsUp: true,
    }),
    { name: "connections that say nothing", connections: TOO_MANY_CONNECTIONS, isDirect: true },
    {
      ...kind("connections, opened and dropped", { method: "", path: "", hangsUp: true }),
      connections: TOO_MANY_CONNECTIONS,
      isDirect: true,
    },
    {
      // About as many of these requests as fit into one read from a connection.
      ...kind("2,000 requests at once on a connection", { method: "GET", path: "/" }),
      pipelined: 2_000,
      isDirect: true,
    },
    { ...kind("bodies of 50 MB", graphql("{ meta { block } }")), bodyBytes: 50_000_000 },
  ];
}
