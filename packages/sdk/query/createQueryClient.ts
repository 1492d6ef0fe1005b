import { tryForeignJson } from "tallystick-protocol/json/foreignJson";
import { type Fetch, requestService } from "../requestService.ts";
import { unreadableAnswer } from "../unreadableAnswer.ts";
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
import {
  type AgentAnswer,
  type AskOptions,
  createGraphqlClient,
  type GraphqlClient,
} from "./createGraphqlClient.ts";

/**
 * Asks a node about agents. Every call throws {@link ServiceError} with the problem's `code` when the node refuses, or
 * with `unreadable_answer` when something else than a node answers. It throws InvalidInputError for a number that JSON
 * cannot write, such as NaN.
 */
export type QueryClient = {
  /** Live listings of a capability that pass every filter, best first by the published ranking (SHP §6). */
  search: (request: SearchRequest, options?: { signal?: AbortSignal }) => Promise<SearchAnswer>;
  /** An agent's public fields (SHP §9.2). The code is `unknown_agent` when the address is not an agent. */
  reputation: (agent: string) => Promise<ReputationAnswer>;
  /** The agent's cluster, with the other members (SHP §4.5.2). */
  cluster: (agent: string, page?: Page) => Promise<ClusterAnswer>;
  /** All its listings, retired ones too. */
  listings: (agent: string, page?: Page, options?: { signal?: AbortSignal }) => Promise<ListingsAnswer>;
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
  const ask = async <Answer>(
    path: string,
    {
      list,
      body,
      signal,
    }: { list?: string | undefined; body?: unknown; signal?: AbortSignal | undefined } = {},
  ): Promise<Answer> =>
    readAnswer((await requestService({ baseUrl, path, body, fetch, signal })).text, list) as Answer;
  const ofAgent = <Answer>(
    agent: string,
    part: string,
    list?: string,
    page: Page = {},
    { signal }: { signal?: AbortSignal | undefined } = {},
  ) => ask<Answer>(`/v1/agents/${encodeURIComponent(agent)}/${part}${queryOf(page)}`, { list, signal });
  // The fields of an answer are not checked here, because the forms of all queries would be larger than the client. A
  // caller that pays or signs by an answer checks it by `readServiceAnswer`.
  const graphql = createGraphqlClient(
    async <Answer>(query: string, variables: object, options: AskOptions | undefined) =>
      (await askGraphql({ baseUrl, query, variables, fetch, signal: options?.signal })) as Answer,
  );
  return {
    search: (request, { signal } = {}) => ask("/v1/search", { list: "agents", body: request, signal }),
    reputation: (agent) => ofAgent(agent, "reputation"),
    cluster: (agent, page) => ofAgent(agent, "cluster", "co_members", page),
    listings: (agent, page, options) => ofAgent(agent, "listings", "listings", page, options),
    receipts: (agent, page) => ofAgent(agent, "receipts", "receipts", page),
    sla: (agent, options) => ofAgent(agent, "sla", undefined, undefined, options),
    params: () => ask("/v1/params"),
    agent: async (address) => (await graphql.agent({ address })).agent,
    graphql,
  };
}

const NODES = "The node's answer";

/**
 * Reads a node's answer. Every caller relies on three facts, so only these are checked: the answer is an object, its
 * lists are lists of objects (`co_members`: of texts), and its cursor is a text or null. A node of another version may
 * have other fields. This is written by hand, because a library of schemas is larger than the whole client.
 *
 * @throws ServiceError `unreadable_answer`
 */
function readAnswer(text: string, list?: string): unknown {
  const answer: unknown = tryForeignJson(text);
  if (!isObject(answer)) throw unreadableAnswer({ what: NODES });
  if (list === undefined) return answer;
  const { [list]: items, next_cursor = null } = answer;
  const isItem = list === "co_members" ? (item: unknown) => typeof item === "string" : isObject;
  if (!Array.isArray(items) || !items.every(isItem)) throw unreadableAnswer({ what: NODES, place: list });
  if (next_cursor !== null && typeof next_cursor !== "string")
    throw unreadableAnswer({ what: NODES, place: "next_cursor" });
  return { ...answer, next_cursor };
}

function isObject(value: unknown): value is { [field: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function queryOf({ limit, cursor }: Page): string {
  const query = new URLSearchParams();
  if (limit !== undefined) query.set("limit", String(limit));
  if (cursor !== undefined && cursor !== null) query.set("cursor", cursor);
  return query.size === 0 ? "" : `?${query}`;
}
