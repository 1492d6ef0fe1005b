import { address, BIG_CLUSTER, CAPABILITIES, capabilityOf, LARGEST, type MarketSize } from "./loadMarket.ts";

/** A kind of request. Each call makes a different one. */
export type Query = {
  name: string;
  /** The highest p99 at the offered rate, milliseconds. */
  goalMs: number;
  next: () => { path: string; body?: unknown };
  /** An SQL query that computes the same answer from the hires at query time, for a comparison. */
  aggregation?: { text: string; params: unknown[]; of: { path: string; body?: unknown } };
};

const AGENT = `query ($id: Address!) { agent(address: $id) {
  address trustTier successRate last30dHireCount last24hVolumeUsdc avgLatencyMs avgLatencyMsP95 avgStars clusterId clusterSize
  hires(first: 10) { nodes { id buyerAddress capability priceUsdc outcome weight time } } } }`;
const CLUSTER = `query ($id: ID!) { cluster(id: $id) { id size members(first: 100) { nodes { address trustTier successRate } } } }`;
const GRAPH = `query ($id: Address!) { fundingGraph(agent: $id, depth: 2) { nodes { address } edges { from to block reason } } }`;

/** The most frequent requests of dashboards and buyers (SHP §6, §9.2). */
export function queriesOf({ agents }: MarketSize): Query[] {
  const random = createRandom(7);
  const anyAgent = () => address(1 + random(agents));
  // A capability with many agents is requested more often.
  const anyCapability = () => capabilityOf(1 + random(agents), agents);
  const search = (capability: string) => ({
    path: "/v1/search",
    body: { capability, min_success_rate: 0.95, max_price_usdc: "0.50", min_trust_tier: 1, limit: 10 },
  });
  const graphql = (query: string, id: string) => ({ path: "/graphql", body: { query, variables: { id } } });
  const leaders = (capability: string) => ({
    path: `/v1/insights/capabilities/${capability}/leaderboard?limit=10`,
  });
  const busiest = capabilityOf(1, agents);
  return [
    {
      name: "search, three filters",
      goalMs: 50,
      next: () => search(anyCapability()),
      aggregation: { text: SEARCH_BY_AGGREGATION, params: [busiest], of: search(busiest) },
    },
    {
      name: "agent, reputation and 10 hires",
      goalMs: 50,
      next: () => graphql(AGENT, random(20) === 0 ? LARGEST : anyAgent()),
      aggregation: { text: AGENT_BY_AGGREGATION, params: [LARGEST], of: graphql(AGENT, LARGEST) },
    },
    {
      name: "leaderboard of a capability",
      goalMs: 150,
      next: () => leaders(`bench.task${random(CAPABILITIES)}`),
      aggregation: { text: LEADERS_BY_AGGREGATION, params: [busiest], of: leaders(busiest) },
    },
    {
      name: "cluster, 100 members, REST",
      goalMs: 150,
      next: () => ({ path: `/v1/agents/${address(agents - random(100))}/cluster?limit=100` }),
    },
    { name: "cluster, 100 members, GraphQL", goalMs: 150, next: () => graphql(CLUSTER, BIG_CLUSTER) },
    { name: "fundingGraph, depth 2", goalMs: 150, next: () => graphql(GRAPH, anyAgent()) },
  ];
}

/** Reputation as SHP §9.2 defines it, for the sellers of one capability, then filtered and ordered as a search. */
const SEARCH_BY_AGGREGATION = `
  WITH sellers AS (SELECT * FROM listing WHERE capability = $1 AND live AND price <= 500000),
  figures AS (
    SELECT seller, sum(1.0 / cluster_size) FILTER (WHERE outcome = 'success') / nullif(sum(1.0 / cluster_size) FILTER (WHERE outcome <> 'neutral'), 0) AS success_rate,
      sum(1.0 / cluster_size) AS hires, avg(latency_ms) AS latency
    FROM hire WHERE seller IN (SELECT agent FROM sellers) AND time > (SELECT time - 2592000 FROM state) GROUP BY seller)
  SELECT sellers.agent, price_usdc, success_rate, hires, latency FROM sellers JOIN figures ON seller = agent JOIN agent ON agent.id = seller
  WHERE success_rate >= 0.95 AND agent.trust_tier >= 1
  ORDER BY agent.trust_tier DESC, success_rate DESC, hires DESC, price LIMIT 10`;

const AGENT_BY_AGGREGATION = `
  SELECT sum(1.0 / cluster_size) FILTER (WHERE outcome = 'success') / nullif(sum(1.0 / cluster_size) FILTER (WHERE outcome <> 'neutral'), 0) AS success_rate,
    sum(1.0 / cluster_size) AS hires, sum(price / cluster_size) FILTER (WHERE time > (SELECT time - 86400 FROM state)) AS volume, avg(latency_ms) AS latency,
    percentile_disc(0.95) WITHIN GROUP (ORDER BY latency_ms) AS p95
  FROM hire WHERE seller = $1 AND time > (SELECT time - 2592000 FROM state)`;

const LEADERS_BY_AGGREGATION = `
  SELECT seller, sum(1.0 / cluster_size) AS weight, count(*) AS hires, sum(price) AS volume, avg(latency_ms) AS latency
  FROM hire WHERE capability = $1 AND time > (SELECT time - 2592000 FROM state)
  GROUP BY seller ORDER BY weight DESC, seller DESC LIMIT 10`;

/** Whole numbers below a bound, the same in every run. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
