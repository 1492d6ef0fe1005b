import { addressSchema } from "tallystick-protocol/address";
import { listForm } from "tallystick-sdk/listForm";
import { askGraphql } from "tallystick-sdk/query/askGraphql";
import { readServiceAnswer } from "tallystick-sdk/readServiceAnswer";
import { type Fetch, requestService, ServiceError } from "tallystick-sdk/requestService";
import { z } from "zod";
import { nodeHint } from "../nodeHint.ts";
import type { Target } from "../terms/target.ts";

/** The most agents of a page, and the most listings of an agent on a page and in all. */
const PAGE = 50;
const LISTINGS_ON_A_PAGE = 10;
const MAX_LISTINGS = 100;

/** One page has at most 550 rows, which cost about 30 points of the client's budget at the node. */
export const AGENTS_QUERY = `query Listings($after: String) {
  agents(first: ${PAGE}, after: $after) {
    nodes {
      address
      listings(first: ${LISTINGS_ON_A_PAGE}) {
        nodes { capability endpoint paymentMode maxLatencyMs payee }
        pageInfo { hasNextPage }
      }
    }
    pageInfo { hasNextPage endCursor }
  }
}`;

/**
 * Reads all listings of one agent, if {@link AGENTS_QUERY} did not return all of them. An agent has at most a hundred
 * listings.
 */
export const AGENT_QUERY = `query ListingsOf($address: Address!) {
  agent(address: $address) {
    listings(first: ${MAX_LISTINGS}) { nodes { capability endpoint paymentMode maxLatencyMs payee } }
  }
}`;

/** The longest endpoint, and the longest payment mode, that a listing may have. */
const MAX_ENDPOINT = 2_048;
const listing = z.object({
  capability: z.string().max(256),
  endpoint: z.string().max(MAX_ENDPOINT),
  paymentMode: z.string().max(MAX_ENDPOINT),
  maxLatencyMs: z.int().min(1),
  payee: addressSchema.nullable(),
});
/**
 * The listings of an agent that can be asked. Strangers chose the texts of listings. So a listing in a wrong form is
 * left out, and all other hosts are still asked.
 */
const listings = (most: number) =>
  z
    .array(z.unknown())
    .max(most)
    .transform((nodes) => nodes.flatMap((node) => listing.safeParse(node).data ?? []));
const agentsAnswer = z.object({
  agents: z.object({
    nodes: listForm(
      z.object({
        address: addressSchema,
        listings: z.object({
          nodes: listings(LISTINGS_ON_A_PAGE),
          pageInfo: z.object({ hasNextPage: z.boolean() }),
        }),
      }),
      PAGE,
    ),
    pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() }),
  }),
});
const agentAnswer = z.object({
  agent: z.object({ listings: z.object({ nodes: listings(MAX_LISTINGS) }) }).nullable(),
});

/**
 * The most requests for one page while the node is busy or cannot be reached. The pause after each request is
 * `PAUSE_MS` milliseconds longer than the one before.
 */
const TRIES = 4;
const PAUSE_MS = 20_000;

/**
 * The most pages of agents, and the longest time of one reading in milliseconds. A bad node could otherwise name a next
 * page forever. Then this reading would never end, and the prober would never read the listings again.
 */
const MAX_PAGES = 20_000;
const MAX_MS = 6 * 3_600_000;

export type ReadListingsParameters = {
  /** The URL of the node. */
  baseUrl: string;
  fetch?: Fetch | undefined;
  /** Waits this many milliseconds. */
  pause: (ms: number) => Promise<void>;
  signal: AbortSignal;
  /** The most pages of agents. Default 20,000: a million agents. */
  maxPages?: number;
};

/**
 * Reads every live listing of every agent from the node's public API, in the order in which the agents
 * registered.
 *
 * @throws ServiceError when the node does not answer or is not ready, `unreadable_answer`, `endless_list`; the signal's
 * reason
 */
export async function* readListings(parameters: ReadListingsParameters): AsyncGenerator<Target> {
  // A node that is still catching up knows only few agents. Then this throws, and the caller keeps its old listings.
  await requestService({
    baseUrl: parameters.baseUrl,
    path: "/ready",
    fetch: parameters.fetch,
    signal: parameters.signal,
  });
  const { maxPages = MAX_PAGES } = parameters;
  const end = performance.now() + MAX_MS;
  let after: string | null = null;
  for (let pages = 0; ; pages++) {
    if (pages === maxPages || performance.now() > end) throw endlessList(maxPages);
    const answer: unknown = await askWithRetries(parameters, AGENTS_QUERY, { after });
    const { agents } = readServiceAnswer(agentsAnswer, answer, listOf("agents"));
    for (const { address: agent, listings: page } of agents.nodes) {
      const all = page.pageInfo.hasNextPage ? await allListings(parameters, agent) : page.nodes;
      for (const one of all) yield { agent, ...one };
    }
    const { hasNextPage, endCursor } = agents.pageInfo;
    // An empty page, or a cursor that is repeated, is the end, even if the node names a next page.
    if (!hasNextPage || endCursor === null || endCursor === after || agents.nodes.length === 0) return;
    after = endCursor;
  }
}

async function allListings(parameters: ReadListingsParameters, address: string) {
  const answer = await askWithRetries(parameters, AGENT_QUERY, { address });
  const { agent } = readServiceAnswer(agentAnswer, answer, listOf("listings"));
  return agent?.listings.nodes ?? [];
}

const listOf = (items: string) => ({ what: `The node's list of ${items}`, hint: nodeHint });

function endlessList(maxPages: number): ServiceError {
  return new ServiceError({
    code: "endless_list",
    message: `The node's list of agents has more than ${maxPages} pages, or takes longer than ${MAX_MS / 3_600_000} hours.`,
    hint: "Check TALLYSTICK_URL. The listings of the last complete reading stay in use.",
    status: 0,
  });
}

async function askWithRetries(
  { baseUrl, fetch, pause, signal }: ReadListingsParameters,
  query: string,
  variables: object,
): Promise<unknown> {
  for (let tries = 1; ; tries++) {
    try {
      return await askGraphql({ baseUrl, query, variables, fetch, signal });
    } catch (error) {
      const isBusy = error instanceof ServiceError && [0, 429, 502, 503, 504].includes(error.status);
      if (!isBusy || tries >= TRIES) throw error;
      await pause(PAUSE_MS * tries);
    }
  }
}
