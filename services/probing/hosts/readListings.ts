import { addressSchema } from "tallystick-protocol/address";
import { askGraphql } from "tallystick-sdk/query/askGraphql";
import { type Fetch, requestService, ServiceError } from "tallystick-sdk/requestService";
import { z } from "zod";
import type { Target } from "../terms/target.ts";

/** One page has at most 550 rows, which cost about 30 points of the client's budget at the node. */
export const AGENTS_QUERY = `query Listings($after: String) {
  agents(first: 50, after: $after) {
    nodes {
      address
      listings(first: 10) {
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
    listings(first: 100) { nodes { capability endpoint paymentMode maxLatencyMs payee } }
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
const listings = z
  .array(z.unknown())
  .transform((nodes) => nodes.flatMap((node) => listing.safeParse(node).data ?? []));
const agentsAnswer = z.object({
  agents: z.object({
    nodes: z.array(
      z.object({
        address: addressSchema,
        listings: z.object({ nodes: listings, pageInfo: z.object({ hasNextPage: z.boolean() }) }),
      }),
    ),
    pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() }),
  }),
});
const agentAnswer = z.object({
  agent: z.object({ listings: z.object({ nodes: listings }) }).nullable(),
});

/**
 * The most requests for one page while the node is busy or cannot be reached. The pause after each request is
 * `PAUSE_MS` milliseconds longer than the one before.
 */
const TRIES = 4;
const PAUSE_MS = 20_000;

export type ReadListingsParameters = {
  /** The URL of the node. */
  baseUrl: string;
  fetch?: Fetch | undefined;
  /** Waits this many milliseconds. */
  pause: (ms: number) => Promise<void>;
  signal: AbortSignal;
};

/**
 * Reads every live listing of every agent from the node's public API, in the order in which the agents
 * registered.
 *
 * @throws ServiceError when the node does not answer or is not ready; the signal's reason
 */
export async function* readListings(parameters: ReadListingsParameters): AsyncGenerator<Target> {
  // A node that is still catching up knows only few agents. Then this throws, and the caller keeps its old listings.
  await requestService({
    baseUrl: parameters.baseUrl,
    path: "/ready",
    fetch: parameters.fetch,
    signal: parameters.signal,
  });
  let after: string | null = null;
  do {
    const { agents }: z.output<typeof agentsAnswer> = agentsAnswer.parse(
      await askWithRetries(parameters, AGENTS_QUERY, { after }),
    );
    for (const { address: agent, listings: page } of agents.nodes) {
      const all = page.pageInfo.hasNextPage
        ? (agentAnswer.parse(await askWithRetries(parameters, AGENT_QUERY, { address: agent })).agent
            ?.listings.nodes ?? [])
        : page.nodes;
      for (const one of all) yield { agent, ...one };
    }
    const { hasNextPage, endCursor } = agents.pageInfo;
    // A faulty node may repeat the same page without end, so a repeated cursor ends the loop.
    after = hasNextPage && endCursor !== after ? endCursor : null;
  } while (after !== null);
}

async function askWithRetries(
  { baseUrl, fetch, pause, signal }: ReadListingsParameters,
  query: string,
  variables: object,
): Promise<unknown> {
  for (let tries = 1; ; tries++) {
    signal.throwIfAborted();
    try {
      return await askGraphql({ baseUrl, query, variables, fetch });
    } catch (error) {
      const isBusy = error instanceof ServiceError && [0, 429, 502, 503, 504].includes(error.status);
      if (!isBusy || tries >= TRIES) throw error;
      await pause(PAUSE_MS * tries);
    }
  }
}
