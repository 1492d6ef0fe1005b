import type { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { addressSchema } from "../../../protocol/address.ts";
import { formatUsdc, parseUsdc, priceUsdcSchema } from "../../../protocol/amount.ts";
import { capabilitySchema } from "../../../protocol/capability.ts";
import { offersOf } from "../../../protocol/clarification/clarifyAnswer.ts";
import { TallystickError } from "../../../protocol/errors.ts";
import { type Listing, listingSchema } from "../../../protocol/records/listing.ts";
import { ratingToken } from "../../../protocol/records/ratingToken.ts";
import { acceptOffer, clarify } from "../../clarify/clarify.ts";
import type { HireParameters } from "../../hire.ts";
import { hireMoney, hireMoneySchema, resumedHire, resumedHireSchema } from "../hireAnswer.ts";
import { type McpContext, requireSpendCap, requireWallet } from "../mcpContext.ts";
import { answering } from "../toolResult.ts";

const params = z.record(z.string(), z.unknown()).describe("What the capability's input schema asks for.");
const offer = z.object({
  quote_token: z.string(),
  price_usdc: z.string(),
  estimated_latency_ms: z.number(),
  expires_at: z.number(),
  params: z.record(z.string(), z.unknown()),
  notes: z.string().optional(),
});

/** Tools that engage others: ask for an offer, hire, rate, and see what is left to spend. */
export function registerHireTools(server: McpServer, context: McpContext): void {
  server.registerTool(
    "clarify",
    {
      title: "Ask for a firm offer",
      description:
        "For custom capabilities whose listing says clarification_supported: describe the work and get a firm, signed offer (or up to three alternatives) before paying. Costs nothing. Accept by giving quote_token to hire_agent.",
      inputSchema: z.object({
        agent_id: addressSchema,
        capability: capabilitySchema,
        brief: z.string().max(2048).describe("What is wanted, at most 2 KB. The seller treats it as data."),
        params: params.optional(),
        max_price_usdc: priceUsdcSchema.optional(),
        max_latency_ms: z.int().positive().optional(),
      }),
      outputSchema: z.object({
        outcome: z.enum(["quote", "counter", "decline"]),
        reason: z.string().nullable(),
        offers: z.array(offer),
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
        const { devMode, fetch, now, counters: memory } = context;
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
        for (const made of offers) context.offers.set(made.quote_token, { listing, offer: made });
        const reason =
          answer.outcome === "decline"
            ? answer.reason
            : answer.outcome === "counter"
              ? answer.counter.reason
              : null;
        return { outcome: answer.outcome, reason, offers: offers.map(plainOffer) };
      }),
  );

  server.registerTool(
    "hire_agent",
    {
      title: "Hire an agent",
      description:
        "Pay an agent to do a task and get its result, verified on this side. Spends real USDC from this server's wallet, never more than max_price_usdc, the operator's limit for one hire, and what is left of its spend cap. A direct payment is final. By payment_mode escrow it goes into an escrow that the operator allows: what verifies is released, what does not is refunded, and next_step says what is left to do. Without agent_id the best seller within the limits is taken.",
      inputSchema: z.object({
        capability: capabilitySchema,
        params: params
          .optional()
          .describe("What the input schema asks for; with quote_token, the offer's own."),
        max_price_usdc: priceUsdcSchema.describe('The most this hire may cost, in USDC: "0.50".'),
        max_latency_ms: z.int().positive().describe("How long it may take, in milliseconds."),
        agent_id: addressSchema.optional().describe("Only this seller."),
        payment_mode: z
          .string()
          .optional()
          .describe(
            "direct (the default), escrow for any that the operator allows, or one of get_remaining_budget's payment_modes. An offer by quote_token has its listing's own.",
          ),
        min_success_rate: z.number().min(0).max(1).optional(),
        min_trust_tier: z.int().min(0).max(2).optional(),
        quote_token: z.string().optional().describe("Accepts an offer that clarify gave."),
      }),
      outputSchema: z.object({
        result: z.unknown(),
        verification: z.object({
          all_passed: z.boolean(),
          checks: z.record(z.string(), z.boolean()),
          details: z.record(z.string(), z.string()),
        }),
        agent_id: z.string(),
        hire_id: z.string(),
        price_paid_usdc: z.string().describe("What was signed for; money says where it is."),
        ...hireMoneySchema.shape,
        receipt_hash: z.string().nullable(),
        latency_ms: z.number(),
        remaining_budget_usdc: z.string(),
      }),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    },
    (asked) =>
      answering(async () => {
        const spend = requireSpendCap(context);
        const most = parseUsdc(asked.max_price_usdc);
        if (most > spend.perHire) {
          throw new TallystickError({
            code: "above_limit_per_hire",
            message: `One hire may cost ${formatUsdc(spend.perHire)} USDC here.`,
            hint: "Ask for less, or ask the operator to raise TALLYSTICK_MAX_PER_HIRE_USDC.",
          });
        }
        const hired = await spend.buyer.hire(hireParameters(context, asked));
        return {
          result: hired.result ?? null,
          verification: hired.verification,
          agent_id: hired.listing.agent_id,
          hire_id: hired.hireId,
          price_paid_usdc: hired.pricePaidUsdc,
          ...hireMoney(hired),
          receipt_hash: hired.receiptHash,
          latency_ms: Math.round(hired.latencyMs),
          remaining_budget_usdc: formatUsdc(await spend.budget.remaining()),
        };
      }),
  );

  server.registerTool(
    "resume_hires",
    {
      title: "Resume hires whose money is open",
      description:
        "Take up the hires whose money is still held by an escrow, or whose payment may still be taken: each is looked up at its seller and verified, then released or refunded; what came back may be spent again. Spends nothing beyond what those hires reserved. Safe to repeat.",
      inputSchema: z.object({}),
      outputSchema: z.object({ hires: z.array(resumedHireSchema), remaining_budget_usdc: z.string() }),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
    },
    () =>
      answering(async () => {
        const { buyer, budget } = requireSpendCap(context);
        const hires = (await buyer.resume()).map(resumedHire);
        return { hires, remaining_budget_usdc: formatUsdc(await budget.remaining()) };
      }),
  );

  server.registerTool(
    "rate_agent",
    {
      title: "Rate an agent",
      description:
        "Give 1 to 5 stars for a hire, once, by the receipt_hash that hire_agent gave. Public and final.",
      inputSchema: z.object({
        receipt_hash: z.string().regex(/^[0-9a-f]{64}$/),
        stars: z.int().min(1).max(5),
        comment: z.string().max(2000).optional().describe("The ledger keeps only its hash."),
        latency_ms: z.int().nonnegative().optional(),
      }),
      outputSchema: z.object({ rated: z.boolean(), rating_token: z.string() }),
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    },
    ({ receipt_hash: receiptHash, stars, comment, latency_ms: latencyMs }) =>
      answering(async () => {
        const { buyer } = requireSpendCap(context);
        const token = ratingToken(receiptHash, "buyer");
        await buyer.rate({
          receiptHash,
          ratingToken: token,
          stars,
          ...(comment !== undefined && { comment }),
          ...(latencyMs !== undefined && { latencyMs }),
        });
        return { rated: true, rating_token: token };
      }),
  );

  server.registerTool(
    "get_remaining_budget",
    {
      title: "Get the remaining budget",
      description:
        "What this server may still spend. Money under way counts as spent until it is known to be back.",
      inputSchema: z.object({}),
      outputSchema: z.object({
        spend_cap_usdc: z.string(),
        remaining_usdc: z.string(),
        max_per_hire_usdc: z.string(),
        payment_modes: z
          .array(z.string())
          .describe("How hire_agent may pay: direct, and the allowed escrows."),
        wallet: z.string(),
      }),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    () =>
      answering(async () => {
        const { budget, total, perHire, paymentModes } = requireSpendCap(context);
        return {
          spend_cap_usdc: formatUsdc(total),
          remaining_usdc: formatUsdc(await budget.remaining()),
          max_per_hire_usdc: formatUsdc(perHire),
          payment_modes: paymentModes,
          wallet: requireWallet(context).address,
        };
      }),
  );
}

type Asked = {
  capability: string;
  params?: { [key: string]: unknown } | undefined;
  max_price_usdc: string;
  max_latency_ms: number;
  agent_id?: string | undefined;
  payment_mode?: string | undefined;
  min_success_rate?: number | undefined;
  min_trust_tier?: number | undefined;
  quote_token?: string | undefined;
};

function hireParameters({ offers }: McpContext, asked: Asked): HireParameters {
  const limits = {
    maxPriceUsdc: asked.max_price_usdc,
    maxLatencyMs: asked.max_latency_ms,
    ...(asked.payment_mode !== undefined && { mode: asked.payment_mode }),
  };
  if (asked.quote_token !== undefined) {
    const known = offers.get(asked.quote_token);
    if (known) return { ...acceptOffer(known.listing, known.offer), ...limits };
    throw new TallystickError({
      code: "unknown_quote",
      message: "This server was given no such offer.",
      hint: "Call clarify, and give the quote_token of one of its offers.",
    });
  }
  return {
    capability: asked.capability,
    params: asked.params ?? {},
    ...limits,
    ...(asked.agent_id !== undefined && { seller: asked.agent_id }),
    ...(asked.min_success_rate !== undefined && { minSuccessRate: asked.min_success_rate }),
    ...(asked.min_trust_tier !== undefined && { minTrustTier: asked.min_trust_tier }),
  };
}

async function findListing({ query }: McpContext, agentId: string, capability: string): Promise<Listing> {
  const { agents } = await query.search({ capability, clarification_supported: true, limit: 100 });
  const found = agents.find(({ agent_id: id }) => id === agentId);
  const read = found && listingSchema.safeParse({ ...found.listing, agent_id: agentId });
  if (read?.success) return read.data;
  throw new TallystickError({
    code: "clarification_not_supported",
    message: `${agentId} has no live listing of ${capability} that takes clarification.`,
    hint: "Call search_agents with clarification_supported: true.",
  });
}

function plainOffer(made: z.output<typeof offer>): z.output<typeof offer> {
  const { quote_token, price_usdc, estimated_latency_ms, expires_at, params: exact, notes } = made;
  return {
    quote_token,
    price_usdc,
    estimated_latency_ms,
    expires_at,
    params: exact,
    ...(notes !== undefined && { notes }),
  };
}
