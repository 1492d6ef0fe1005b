import type { McpServer } from "@modelcontextprotocol/server";
import { addressSchema } from "tallystick-protocol/address";
import { priceUsdcSchema } from "tallystick-protocol/amount";
import { capabilitySchema } from "tallystick-protocol/capabilitySchema";
import { offersOf, type QuoteOffer } from "tallystick-protocol/clarification/clarifyAnswer";
import { TallystickError } from "tallystick-protocol/errors";
import { jsonHash } from "tallystick-protocol/hire/paramsHash";
import { type Listing, listingSchema } from "tallystick-protocol/records/listing";
import { signedListing } from "tallystick-sdk/buyer/signedListing";
import { readSuspension, requireNotSuspended } from "tallystick-sdk/buyer/suspension";
import { clarify } from "tallystick-sdk/clarify/clarify";
import { within } from "tallystick-sdk/deadline";
import { z } from "zod";
import { type McpContext, requireWallet } from "../mcpContext.ts";
import { strangersText, strangersTextSchema } from "../strangersText.ts";
import { answering } from "../toolResult.ts";

const params = z.record(z.string(), z.unknown()).describe("What the capability's input schema asks for.");
const offer = z.object({
  quote_token: z.string().describe("This server's name for the offer. Give it to hire_agent."),
  price_usdc: z.string(),
  estimated_latency_ms: z.number(),
  expires_at: z.number(),
});

/** The tool that asks a seller for a firm offer. */
export function registerOfferTools(server: McpServer, context: McpContext): void {
  server.registerTool(
    "clarify",
    {
      title: "Ask for a firm offer",
      description:
        "Describe the work and get a firm, signed offer, or up to three alternatives, before you pay. This works for custom capabilities whose listing says clarification_supported. It costs nothing. To accept an offer, give its quote_token to hire_agent.",
      inputSchema: z.object({
        agent_id: addressSchema,
        capability: capabilitySchema,
        brief: z.string().max(2048).describe("What you want, in at most 2 KB. The seller treats it as data."),
        params: params.optional(),
        max_price_usdc: priceUsdcSchema.optional(),
        max_latency_ms: z.int().positive().optional(),
      }),
      outputSchema: z.object({
        outcome: z.enum(["quote", "counter", "decline"]),
        offers: z.array(offer),
        from_seller: strangersTextSchema
          .nullable()
          .describe("The seller's reason, and the exact params and notes of each offer, by its quote_token."),
      }),
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: false,
        openWorldHint: true,
      },
    },
    (asked) =>
      answering(async () => {
        const { account } = requireWallet(context);
        const listing = await findListing(context, asked.agent_id, asked.capability);
        const { devMode, sellerFetch: fetch, now, counters: memory } = context;
        const answer = await clarify({
          account,
          listing,
          brief: asked.brief,
          ...(asked.params !== undefined && { params: asked.params }),
          ...(asked.max_price_usdc !== undefined && { maxPriceUsdc: asked.max_price_usdc }),
          ...(asked.max_latency_ms !== undefined && { maxLatencyMs: asked.max_latency_ms }),
          memory,
          devMode,
          fetch,
          now,
        });
        const offers = offersOf(answer);
        const named = offers.map((made) => ({ name: offerName(made), made }));
        for (const { name, made } of named) keepOffer(context, name, { listing, offer: made });
        const reason =
          answer.outcome === "decline"
            ? answer.reason
            : answer.outcome === "counter"
              ? answer.counter.reason
              : null;
        const said = named.map(({ name, made }) => [name, { params: made.params, notes: made.notes }]);
        return {
          outcome: answer.outcome,
          offers: named.map(({ name, made }) => plainOffer(name, made)),
          from_seller: strangersText({ reason, offers: Object.fromEntries(said) }),
        };
      }),
  );
}

type ListingsAnswer = Awaited<ReturnType<McpContext["query"]["listings"]>>;
type Listings = ListingsAnswer["listings"];

/** A name of our own for an offer, because its token is a stranger's text. */
function offerName({ quote_token }: QuoteOffer): string {
  return `offer_${jsonHash(quote_token).slice(2, 26)}`;
}

/** The most offers that are remembered. The oldest are dropped first. */
const MAX_OFFERS = 1_000;

function keepOffer(
  { offers }: McpContext,
  name: string,
  offer: { listing: Listing; offer: QuoteOffer },
): void {
  offers.delete(name);
  offers.set(name, offer);
  for (const oldest of offers.keys()) {
    if (offers.size <= MAX_OFFERS) break;
    offers.delete(oldest);
  }
}

/** The most pages of an agent's listings that are read. */
const MAX_PAGES = 10;

/** How long to wait for the node's answer about an SLA, in milliseconds. */
const SLA_MS = 3_000;

/** The listing as its seller signed it. Otherwise a node could send the brief to somebody else. */
async function findListing(
  { query, listings, spend }: McpContext,
  agentId: string,
  capability: string,
): Promise<Listing> {
  const own = await clarifiedListings(query, agentId, capability);
  // An offer is hired in the payment mode of its listing.
  const { paymentModes = ["direct"] } = spend ?? {};
  const found = own.find(({ payment_mode: mode }) => paymentModes.includes(mode)) ?? own[0];
  const read = found && listingSchema.safeParse({ ...found, agent_id: agentId });
  if (read?.success) {
    // If the node does not answer, the seller is asked. A hire looks again.
    const sla = await within(query.sla(agentId), SLA_MS).catch(() => undefined);
    requireNotSuspended(read.data, readSuspension(sla?.sla_status?.suspended_until));
    const signed = await signedListing(listings, read.data);
    // The hire asks the node for the signed form again, by this hash.
    return { ...signed, entry_hash: read.data.entry_hash };
  }
  throw new TallystickError({
    code: "clarification_not_supported",
    message: `${agentId} has no live listing of ${capability} that takes clarification.`,
    hint: "Call search_agents with clarification_supported: true.",
  });
}

/**
 * The agent's own listings of a capability that take clarification. A search would not show them while enough other
 * agents rank higher.
 */
async function clarifiedListings(
  query: McpContext["query"],
  agentId: string,
  capability: string,
): Promise<Listings> {
  const found: Listings = [];
  let cursor: string | null = null;
  for (let page = 0; page < MAX_PAGES; page++) {
    const answer: ListingsAnswer = await query.listings(agentId, { limit: 100, cursor });
    const isIt = (one: Listings[number]): boolean =>
      one.capability === capability && one.clarification_supported && !one.retired;
    found.push(...answer.listings.filter(isIt));
    cursor = answer.next_cursor;
    if (cursor === null) break;
  }
  return found;
}

function plainOffer(name: string, made: QuoteOffer): z.output<typeof offer> {
  const { price_usdc, estimated_latency_ms, expires_at } = made;
  return { quote_token: name, price_usdc, estimated_latency_ms, expires_at };
}
