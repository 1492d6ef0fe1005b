import { getIntrospectionQuery } from "graphql";
import { address, BIG_CLUSTER, capabilityOf, LARGEST, type MarketSize } from "../loadMarket.ts";

/** A request, in a form that makes it expensive. `name` begins with its route, or with its field of GraphQL's `Query`. */
export type Ask = { name: string; path: string; body?: unknown };

/** The number of lists that one query can count completely before it reaches its limit of rows. */
const ALIASES = 9;

const aliases = (count: number, one: string) =>
  Array.from({ length: count }, (_, n) => `a${n}: ${one}`).join(" ");

const graphql = (name: string, query: string): Ask => ({ name, path: "/graphql", body: { query } });

/** Fields of `Query` that give a list, if possible with a filter that most of the read rows do not match. */
const LISTS: [field: string, args?: string][] = [
  ["agents", "where: { maxLatencyMs: 1 }"],
  ["auditActuations"],
  ["auditAssignments"],
  ["auditModeChanges"],
  ["auditModes"],
  ["auditOperators"],
  ["auditors"],
  ["audits"],
  ["capabilities"],
  ["checkpoints"],
  ["clusters", "where: { minSize: 90 }"],
  ["digests"],
  ["escrows"],
  ["hires", `where: { seller: "${LARGEST}", outcome: NEUTRAL }`],
  ["listings", 'where: { maxPriceUsdc: "0.000001" }'],
  ["paramsHistory"],
  ["tierChanges"],
  ["trustScores"],
];

/** The fields of `Query` that give one thing. */
function roots(busiest: string): [field: string, text: string][] {
  const hash = "0".repeat(64);
  const ledger = `0x${hash}`;
  const nobody = `"0x${"e".repeat(40)}"`;
  return [
    ["agent", `agent(address: "${LARGEST}") { id hires(first: 10) { nodes { id buyerAddress } } }`],
    [
      "agentsByAddress",
      `agentsByAddress(addresses: ["${LARGEST}"]) { id clusterId avgCostPerCapability { capability } }`,
    ],
    ["audit", `audit(id: "${ledger}-1") { id }`],
    ["auditOperator", `auditOperator(address: ${nobody}) { __typename }`],
    ["breach", `breach(id: "${hash}") { __typename }`],
    ["capability", `capability(name: "${busiest}") { capability series(days: 30) { days { day } } }`],
    ["cluster", `cluster(id: "${BIG_CLUSTER}") { id mergedIds members(first: 50) { nodes { id } } }`],
    ["escrow", `escrow(id: "${ledger}") { id }`],
    ["family", `family(id: "${hash}") { __typename }`],
    [
      "fundingGraph",
      `fundingGraph(agent: "${address(7)}", depth: 3) { nodes { address kind clusterId } edges { from to amountUsdc reason signals { signal clusterId } } }`,
    ],
    ["hire", `hire(id: "0x${"1".padStart(64, "0")}-1") { id payment { tx } receipt { id } }`],
    ["identity", `identity(id: "x") { __typename }`],
    [
      "insights",
      `insights { agentPercentiles(agent: "${LARGEST}") { __typename } capabilityPercentiles(capability: "${busiest}") { __typename } }`,
    ],
    ["ledger", `ledger(id: "${ledger}") { id }`],
    ["ledgerEntries", `ledgerEntries(ledger: "${ledger}", first: 50) { nodes { id } }`],
    ["ledgerEntry", `ledgerEntry(ledger: "${ledger}", seq: 1) { id }`],
    ["ledgerEntryByHash", `ledgerEntryByHash(hash: "${hash}") { id }`],
    [
      "market",
      "market { counts { agents } window { hires } allTime { hires } series(days: 30) { days { day } } }",
    ],
    ["meta", "meta { block digest token { firstBlock } }"],
    ["node", `node(id: "${LARGEST}") { id }`],
    ["params", "params { __typename }"],
    ["receipt", `receipt(hash: "${hash}") { id }`],
  ];
}

/** Every route that reads the database, and every field of `Query`, in their expensive forms. */
export function asks({ agents }: MarketSize): Ask[] {
  const busiest = capabilityOf(1, agents);
  const inBig = address(agents);
  const get = (path: string): Ask => ({ name: `GET ${path.split("?")[0]}`, path });
  return [
    ...[
      "reputation",
      "cluster?limit=100",
      "counterparties?limit=100",
      "failures",
      "listings",
      "receipts",
      "settlement-trust",
      "sla",
    ].map((rest) => get(`/v1/agents/${rest.startsWith("cluster") ? inBig : LARGEST}/${rest}`)),
    get("/v1/aliases/nobody"),
    get(`/v1/audits/0x${"0".repeat(64)}-1`),
    get("/v1/breach-steps"),
    get("/v1/capabilities?limit=100"),
    get("/v1/clusters?limit=100&order=size"),
    get(`/v1/clusters/${BIG_CLUSTER}/graph`),
    get("/v1/digests"),
    get(`/v1/escrows/0x${"0".repeat(64)}`),
    get("/v1/events?after=0&limit=1000"),
    ...["history", "percentiles", "series"].map((rest) => get(`/v1/insights/agents/${LARGEST}/${rest}`)),
    get("/v1/insights/capabilities?limit=100"),
    ...["leaderboard?limit=100", "percentiles", "series"].map((rest) =>
      get(`/v1/insights/capabilities/${busiest}/${rest}`),
    ),
    get("/v1/market"),
    get("/v1/params"),
    {
      name: "POST /v1/search",
      path: "/v1/search",
      body: { capability: busiest, min_success_rate: 0.99, min_avg_stars: 4.9, limit: 50 },
    },
    ...LISTS.flatMap(([field, args]) => {
      const given = args === undefined ? "" : `, ${args}`;
      return [
        graphql(`${field}, a page`, `{ ${field}(first: 100${given}) { nodes { __typename } } }`),
        graphql(
          `${field}, its length`,
          `{ ${aliases(ALIASES, `${field}(first: 0${given}) { totalCount }`)} }`,
        ),
        ...(args === undefined
          ? []
          : [
              graphql(
                `${field}, length of all`,
                `{ ${aliases(ALIASES, `${field}(first: 0) { totalCount }`)} }`,
              ),
            ]),
      ];
    }),
    ...roots(busiest).flatMap(([field, text]) => [
      graphql(`${field}, once`, `{ ${text} }`),
      // A query may have at most two samples of a thousand hires.
      ...(field === "insights" ? [] : [graphql(`${field}, five times`, `{ ${aliases(5, text)} }`)]),
    ]),
    graphql("__schema", getIntrospectionQuery()),
  ];
}
