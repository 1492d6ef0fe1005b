import { readForeignJson } from "tallystick-protocol/json/foreignJson";
import { type Fetch, requestService } from "../requestService.ts";
import type {
  ClusterAnswer,
  ListingsAnswer,
  Page,
  ParamsAnswer,
  ReceiptsAnswer,
  ReputationAnswer,
  SearchAnswer,
  SearchRequest,
  SlaAnswer,
} from "./answers.ts";
import { askGraphql } from "./askGraphql.ts";
import { type AgentAnswer, createGraphqlClient, type GraphqlClient } from "./createGraphqlClient.ts";

/**
 * Asks a node about agents. Every call throws {@link ServiceError} with the problem's `code` when the node refuses, and
 * InvalidInputError for a number that JSON cannot write, such as NaN.
 */
export type QueryClient = {
  /** Live listings of a capability that pass every filter, best first by the published ranking (SHP §6). */
  search: (request: SearchRequest, options?: { signal?: AbortSignal }) => Promise<SearchAnswer>;
  /** An agent's public fields (SHP §9.2). The code is `unknown_agent` when the address is not an agent. */
  reputation: (agent: string) => Promise<ReputationAnswer>;
  /** The agent's cluster, with the other members (SHP §4.5.2). */
  cluster: (agent: string, page?: Page) => Promise<ClusterAnswer>;
  /** All its listings, retired ones too. */
  listings: (agent: string, page?: Page) => Promise<ListingsAnswer>;
  /** The receipts it signed as the seller, the latest first. */
  receipts: (agent: string, page?: Page) => Promise<ReceiptsAnswer>;
  /** Its SLA and the present state of each guarantee (STEWARD). */
  sla: (agent: string, options?: { signal?: AbortSignal }) => Promise<SlaAnswer>;
  /** The parameters and trust roots in force. */
  params: () => Promise<ParamsAnswer>;
  /** An agent with its listings, latest hires and tier changes; null when the address is not an agent. */
  agent: (address: string) => Promise<AgentAnswer["agent"]>;
  /** Typed GraphQL queries, of operations.graphql. */
  graphql: GraphqlClient;
};

/**
 * A client of a node's public API.
 *
 * @example
 * const node = createQueryClient({ baseUrl: "https://node.example" });
 * const { agents } = await node.search({ capability: "text.translate.en.it", max_price_usdc: "0.50" });
 *
 * @param parameters.baseUrl the node's address
 * @param parameters.fetch replaces the platform's `fetch`
 */
export function createQueryClient({ baseUrl, fetch }: { baseUrl: string; fetch?: Fetch }): QueryClient {
  const ask = async <Answer>(path: string, body?: unknown, signal?: AbortSignal): Promise<Answer> => {
    const { text } = await requestService({ baseUrl, path, body, fetch, signal });
    return readForeignJson(text) as Answer;
  };
  const ofAgent = <Answer>(agent: string, part: string, page: Page = {}) =>
    ask<Answer>(`/v1/agents/${encodeURIComponent(agent)}/${part}${queryOf(page)}`);
  const graphql = createGraphqlClient((query, variables) => askGraphql({ baseUrl, query, variables, fetch }));
  return {
    search: (request, { signal } = {}) => ask("/v1/search", request, signal),
    reputation: (agent) => ofAgent(agent, "reputation"),
    cluster: (agent, page) => ofAgent(agent, "cluster", page),
    listings: (agent, page) => ofAgent(agent, "listings", page),
    receipts: (agent, page) => ofAgent(agent, "receipts", page),
    sla: (agent, { signal } = {}) => ask(`/v1/agents/${encodeURIComponent(agent)}/sla`, undefined, signal),
    params: () => ask("/v1/params"),
    agent: async (address) => (await graphql.agent({ address })).agent,
    graphql,
  };
}

function queryOf({ limit, cursor }: Page): string {
  const query = new URLSearchParams();
  if (limit !== undefined) query.set("limit", String(limit));
  if (cursor !== undefined && cursor !== null) query.set("cursor", cursor);
  return query.size === 0 ? "" : `?${query}`;
}
