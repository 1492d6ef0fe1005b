import type { Address } from "tallystick-protocol/address";
import type { Service } from "tallystick-protocol/erc8004/registrationFile";
import { InvalidInputError } from "tallystick-protocol/errors";
import { isLedgerHash } from "tallystick-protocol/ledger/entry";
import { type Listing, MAX_ENDPOINT_LENGTH } from "tallystick-protocol/records/listing";
import { listingSources } from "tallystick-sdk/buyer/listingSources";
import { signedListing } from "tallystick-sdk/buyer/signedListing";
import { type RegisteredOrNot, registerAgent } from "tallystick-sdk/erc8004/registerAgent";
import { listForm } from "tallystick-sdk/listForm";
import type { QueryClient } from "tallystick-sdk/query/createQueryClient";
import { readServiceAnswer } from "tallystick-sdk/readServiceAnswer";
import { z } from "zod";
import { nodeAt } from "../query/nodeQuery.ts";
import { openPosting, type PostOptions } from "./openPosting.ts";

/** The options of the command line. */
export type RegisterOptions = PostOptions & {
  name: string;
  description: string;
  image?: string;
  mcp?: string;
  a2a?: string;
  web?: string;
  agentId?: number;
};

/**
 * Registers the key's agent with its offers at the node, or renews its file.
 *
 * @throws as `registerAgent`
 */
export async function register(
  options: RegisterOptions,
  environment: { [name: string]: string | undefined },
): Promise<RegisteredOrNot> {
  const posting = await openPosting(options, environment);
  const agent = posting.account.address.toLowerCase() as Address;
  const offers = await liveOffers(options, agent);
  const { name, description, image, agentId } = options;
  const [knownBy] = offers.map((it) => it.entry_hash);
  if (posting.uri === undefined && knownBy === undefined) {
    const message = "the node keeps the file of an agent that has a live listing there; or name --uri";
    throw new InvalidInputError({ issues: [{ field: "TALLYSTICK_PRIVATE_KEY", message }] });
  }
  const byEndpoint = new Map<string, string[]>();
  for (const { endpoint, capability } of offers)
    byEndpoint.set(endpoint, [...(byEndpoint.get(endpoint) ?? []), capability]);
  const hire = [...byEndpoint].map(([endpoint, capabilities]) => ({
    endpoint,
    capabilities: [...new Set(capabilities)].sort(),
  }));
  return await registerAgent({
    ...posting,
    name,
    description,
    image,
    hire,
    services: servicesOf(options),
    agentId,
    knownBy,
  });
}

/** The most listings that a node gives in one answer. */
const PAGE = 100;

/** The most pages that are read. A file has no room for so many listings. */
const MAX_PAGES = 20;

const offersForm = z.object({
  listings: listForm(
    z.looseObject({
      capability: z.string(),
      endpoint: z.string().max(MAX_ENDPOINT_LENGTH),
      retired: z.boolean(),
      entry_hash: z.string().refine(isLedgerHash),
    }),
    PAGE,
  ),
  next_cursor: z.string().nullable(),
});

type Offer = z.output<typeof offersForm>["listings"][number];

/**
 * The agent's live listings at the node, always in the same order. The agent must have signed each of them: a node could
 * show another endpoint, and the file would send the agent's buyers there.
 *
 * @throws ListingError `listing_not_signed`, `listing_differs`, `listing_unavailable`
 */
async function liveOffers(options: PostOptions, agent: string): Promise<Offer[]> {
  const node = nodeAt(options);
  const offers: Offer[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages === 0 || (cursor !== null && pages < MAX_PAGES); pages++) {
    const answer: unknown = await node
      .listings(agent, { limit: PAGE, ...(cursor !== null && { cursor }) })
      .catch((error: { code?: string }) => {
        if (error.code === "unknown_agent") return { listings: [], next_cursor: null };
        throw error;
      });
    const page: z.output<typeof offersForm> = readServiceAnswer(offersForm, answer, {
      what: "The node's list of listings",
    });
    const live = page.listings.filter(({ retired }) => !retired);
    // One after the other: a node answers few requests of one client at a time, and each has only some seconds.
    for (const offer of live) await requireSigned(node, offer, agent);
    offers.push(...live);
    cursor = page.next_cursor;
  }
  const keyOf = (it: { endpoint: string; capability: string }) => `${it.endpoint} ${it.capability}`;
  return offers.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

async function requireSigned(node: QueryClient, offer: Offer, agent: string): Promise<void> {
  const sellerFetch = () => Promise.reject(new Error("Only the node is asked."));
  const shown = { ...offer, agent_id: agent } as object as Listing;
  await signedListing(listingSources({ node, sellerFetch, devMode: true }), shown);
}

function servicesOf({ mcp, a2a, web }: RegisterOptions): Service[] {
  return [
    ...(mcp === undefined ? [] : [{ name: "MCP", endpoint: mcp }]),
    ...(a2a === undefined ? [] : [{ name: "A2A", endpoint: a2a }]),
    ...(web === undefined ? [] : [{ name: "web", endpoint: web }]),
  ];
}
