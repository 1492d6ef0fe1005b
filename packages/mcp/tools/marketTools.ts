import type { McpServer } from "@modelcontextprotocol/server";
import { capabilityOf } from "tallystick-capabilities/capabilityOf";
import { loadCatalogue } from "tallystick-capabilities/catalogue";
import { minVerificationVersion, versionStatus } from "tallystick-capabilities/versions";
import { addressSchema } from "tallystick-protocol/address";
import { priceUsdcSchema } from "tallystick-protocol/amount";
import { capabilitySchema } from "tallystick-protocol/capabilitySchema";
import { TallystickError } from "tallystick-protocol/errors";
import { z } from "zod";
import type { McpContext } from "../mcpContext.ts";
import { restsOn } from "../restsOn.ts";
import {
  plainCursor,
  plainFigure,
  plainFigures,
  strangersText,
  strangersTextSchema,
} from "../strangersText.ts";
import { answering } from "../toolResult.ts";

const READS = { readOnlyHint: true, openWorldHint: true } as const;
const agent = z.object({
  agent_id: z.string(),
  cluster_id: z.string().nullable(),
  cluster_size: z.number(),
  listing: z.object({
    price_usdc: z.string(),
    max_latency_ms: z.number(),
    payment_mode: z
      .string()
      .describe(
        "direct, or an escrow that this server may use. Any other escrow is only platform_escrow or custom_escrow here.",
      ),
    clarification_supported: z.boolean(),
    first_call_free: z.boolean(),
  }),
  reputation: z.looseObject({
    success_rate: z.number().nullable(),
    last_30d_hire_count: z.number(),
    avg_stars: z.number().nullable(),
    trust_tier: z.number(),
    rests_on: z.string().describe("The evidence behind the figures, in one sentence."),
  }),
  steward: z
    .object({ score: z.number(), tier: z.string(), suspended_until: z.number().nullable() })
    .nullable()
    .describe("The trust score, which is advice; null if there is none."),
});

/** Tools that only read: who sells what, how good the sellers are, and which capabilities exist. */
export function registerMarketTools(server: McpServer, context: McpContext): void {
  registerSearchAgents(server, context);
  registerCheckReputation(server, context);
  registerListCapabilities(server, context);
}

function registerSearchAgents(server: McpServer, context: McpContext): void {
  server.registerTool(
    "search_agents",
    {
      title: "Search agents",
      description:
        "Find agents that sell a capability, the best first, with price, latency and a reputation that is derived from payments on the chain. A reputation figure is null if there are no hires to derive it from.",
      inputSchema: z.object({
        capability: capabilitySchema.describe(
          "A capability id such as text.translate.en.it; see list_capabilities.",
        ),
        max_price_usdc: priceUsdcSchema.optional().describe('The highest price, in USDC: "0.50".'),
        max_latency_ms: z.int().positive().optional(),
        min_success_rate: z.number().min(0).max(1).optional(),
        min_avg_stars: z.number().min(0).max(5).optional(),
        min_trust_tier: z.int().min(0).max(2).optional(),
        min_independent_buyers: z
          .int()
          .min(0)
          .optional()
          .describe("The least number of buyers whose money comes from different sources."),
        min_receipt_coverage: z.number().min(0).max(1).optional(),
        min_kept_usdc: priceUsdcSchema
          .optional()
          .describe("The least amount, in USDC, that buyers paid and did not get back."),
        payment_mode: z.string().optional().describe("direct, platform_escrow:ID, or platform_escrow:*."),
        min_verification_version: z.string().optional(),
        clarification_supported: z.boolean().optional(),
        steward_tier: z
          .enum(["UNVERIFIED", "VERIFIED", "TRUSTED", "HIGHLY_TRUSTED"])
          .optional()
          .describe("This tier of the trust score or a higher one."),
        min_steward_score: z.number().min(0).max(1).optional(),
        include_suspended: z
          .boolean()
          .optional()
          .describe("True also shows agents that take no new hires now, because they broke their SLA."),
        order_by: z
          .enum(["ranking", "steward_score", "independent_buyers", "kept_usdc", "receipt_coverage"])
          .optional(),
        limit: z.int().min(1).max(100).optional(),
        cursor: z.string().optional(),
      }),
      outputSchema: z.object({
        agents: z.array(agent),
        next_cursor: z.string().nullable(),
        from_sellers: strangersTextSchema.describe("The texts of the listings, by agent."),
      }),
      annotations: READS,
    },
    (request) =>
      answering(async () => {
        const { agents, next_cursor } = await context.query.search(request);
        const said = agents.map(({ agent_id, listing }) => {
          const { capability, endpoint, payment_mode, verification_version } = listing;
          return [plainFigure(agent_id), { capability, endpoint, payment_mode, verification_version }];
        });
        return {
          agents: agents.map((found) => plainAgent(found, context.spend?.paymentModes ?? [])),
          next_cursor: plainCursor(next_cursor),
          from_sellers: strangersText(Object.fromEntries(said)),
        };
      }),
  );
}

function registerCheckReputation(server: McpServer, context: McpContext): void {
  server.registerTool(
    "check_reputation",
    {
      title: "Check an agent's reputation",
      description:
        "Everything that the node knows about one agent: rates, latencies, volume, tier, and the cluster of agents to which it seems to belong.",
      inputSchema: z.object({ agent_id: addressSchema.describe("The agent's wallet, lower case.") }),
      outputSchema: z.looseObject({
        agent_id: z.string(),
        success_rate: z.number().nullable(),
        last_30d_hire_count: z.number(),
        avg_stars: z.number().nullable(),
        trust_tier: z.number(),
        rests_on: z.string().describe("The evidence behind the figures, in one sentence."),
        cluster_id: z.string().nullable(),
        cluster_size: z.number(),
        co_members: z.array(z.string()),
        from_sellers: strangersTextSchema.describe("The median price that was paid for each capability."),
      }),
      annotations: READS,
    },
    ({ agent_id }) =>
      answering(async () => {
        const [reputation, cluster] = await Promise.all([
          context.query.reputation(agent_id),
          context.query.cluster(agent_id),
        ]);
        const co_members = cluster.co_members.filter((member) => addressSchema.safeParse(member).success);
        // Sellers choose the names of custom capabilities.
        const { avg_cost_per_capability, ...figures } = reputation;
        return {
          ...(plainFigures({ ...figures, co_members }) as { [key: string]: unknown }),
          from_sellers: strangersText({ avg_cost_per_capability }),
          rests_on: restsOn({ ...reputation, hires: reputation.last_30d_hire_count_raw }),
        };
      }),
  );
}

function registerListCapabilities(server: McpServer, context: McpContext): void {
  server.registerTool(
    "list_capabilities",
    {
      title: "List capabilities",
      description:
        "The standard capabilities. You can hire an agent for each, and results are verified automatically. For one id it gives the input and output schemas, and the checks that a result must pass.",
      inputSchema: z.object({ capability: z.string().optional().describe("One id, for its schemas.") }),
      outputSchema: z.object({
        capabilities: z.array(
          z.object({
            id: z.string(),
            patterns: z.array(z.string()),
            summary: z.string(),
            versions: z.array(z.object({ version: z.string(), status: z.string() })),
            min_verification_version: z.string(),
            checks: z.array(z.string()),
            input: z.record(z.string(), z.unknown()).optional(),
            output: z.record(z.string(), z.unknown()).optional(),
          }),
        ),
      }),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ capability }) =>
      answering(async () => {
        const now = Math.floor(context.now() / 1000);
        const wanted = capability === undefined ? await loadCatalogue() : [await capabilityOf(capability)];
        const capabilities = wanted.map((found) => {
          if (!found) throw unknownCapability(capability ?? "");
          return {
            id: found.id,
            patterns: [...found.patterns],
            summary: found.summary,
            versions: found.versions.map(({ version }) => ({
              version,
              status: versionStatus(found, version, now),
            })),
            min_verification_version: minVerificationVersion(found, now),
            checks: ["matches_schema", ...Object.keys(found.checks)],
            ...(capability !== undefined && { input: found.input, output: found.output }),
          };
        });
        return { capabilities };
      }),
  );
}

type Found = Awaited<ReturnType<McpContext["query"]["search"]>>["agents"][number];

/** An agent's figures. The words of its listing are in a separate field. */
function plainAgent(
  { agent_id, cluster_id, cluster_size, listing, reputation, steward }: Found,
  allowedModes: readonly string[],
): z.output<typeof agent> {
  const { price_usdc, max_latency_ms, payment_mode, clarification_supported, first_call_free } = listing;
  return {
    agent_id: plainFigure(agent_id),
    cluster_id: cluster_id === null ? null : plainFigure(cluster_id),
    cluster_size,
    listing: {
      price_usdc: plainFigure(price_usdc),
      max_latency_ms,
      payment_mode: plainMode(payment_mode, allowedModes),
      clarification_supported,
      first_call_free: first_call_free === true,
    },
    reputation: {
      ...(plainFigures(reputation) as Omit<z.output<typeof agent>["reputation"], "rests_on">),
      rests_on: restsOn({ ...reputation, hires: reputation.last_30d_hire_count }),
    } as z.output<typeof agent>["reputation"],
    steward: steward
      ? {
          score: steward.score,
          tier: plainFigure(steward.tier),
          suspended_until: steward.suspended_until ?? null,
        }
      : null,
  };
}

/** A stranger chose the name of an escrow that the operator does not allow, so only its kind is shown. */
function plainMode(mode: string, allowed: readonly string[]): string {
  if (mode === "direct" || allowed.includes(mode)) return mode;
  return mode.startsWith("platform_escrow:") ? "platform_escrow" : "custom_escrow";
}

function unknownCapability(capability: string): TallystickError {
  return new TallystickError({
    code: "unknown_capability",
    message: `${capability} is not a standard capability.`,
    hint: "Call list_capabilities without arguments. custom.* ids have the schemas that their sellers publish.",
  });
}
