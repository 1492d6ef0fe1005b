import { STATE_ID } from "tallystick-derive/stateId";
import { TallystickError } from "tallystick-protocol/errors";
import { figuresOf } from "../insights/figures.ts";
import {
  agentPercentiles,
  capabilityPercentiles,
  type Percentiles,
  SAMPLE,
  type TierFigures,
} from "../insights/percentiles.ts";
import { agentSeries, capabilitySeries } from "../insights/series.ts";
import { type Fortnight, fortnights } from "../insights/trends.ts";
import { batched } from "../rows/batched.ts";
import type { RowOf } from "../rows/rowsById.ts";
import { capabilityList, leaderList } from "../rows/tallies.ts";
import { agentAt } from "./agent.ts";
import { builder, OrderDirection } from "./builder.ts";
import type { QueryContext } from "./context.ts";
import { queryError } from "./errors.ts";
import { FiguresRef, SeriesRef, takeDays } from "./hireFigures.ts";
import { listPage } from "./list.ts";

const TierFiguresRef = builder.objectRef<TierFigures>("TierFigures").implement({
  description:
    "Figures of the hires by buyers of one trust tier. The tiers are the present tiers of the buyers. Percentiles are nearest ranks.",
  fields: (t) => ({
    buyerTrustTier: t.exposeInt("buyer_trust_tier"),
    hires: t.exposeInt("hires"),
    successRate: t.exposeFloat("success_rate", { nullable: true }),
    latencyMsP50: t.float({ nullable: true, resolve: (it) => it.latency_ms?.p50 ?? null }),
    latencyMsP95: t.float({ nullable: true, resolve: (it) => it.latency_ms?.p95 ?? null }),
    latencyMsP99: t.float({ nullable: true, resolve: (it) => it.latency_ms?.p99 ?? null }),
    priceUsdcP50: t.field({ type: "Usdc", resolve: (it) => it.price_usdc.p50 }),
    priceUsdcP95: t.field({ type: "Usdc", resolve: (it) => it.price_usdc.p95 }),
    priceUsdcP99: t.field({ type: "Usdc", resolve: (it) => it.price_usdc.p99 }),
  }),
});

const PercentilesRef = builder.objectRef<Percentiles>("Percentiles").implement({
  fields: (t) => ({
    sample: t.exposeInt("sample", {
      description: `The number of hires: the latest of the window, at most ${SAMPLE}.`,
    }),
    complete: t.exposeBoolean("complete", { description: "Whether these are all hires of the window." }),
    byBuyerTrustTier: t.field({ type: [TierFiguresRef], resolve: (it) => it.by_buyer_trust_tier }),
  }),
});

const LeaderRef = builder.objectRef<RowOf<"capabilityAgent">>("Leader").implement({
  fields: (t) => ({
    agent: t.field(agentAt(({ agent }) => agent)),
    inCapability: t.field({
      type: FiguresRef,
      description: "The agent's hires of the window in the capability.",
      resolve: figuresOf,
    }),
  }),
});

const LeaderConnection = builder.connectionObject(
  { type: LeaderRef, name: "LeaderConnection" },
  { name: "LeaderEdge" },
);

const TrendRef = builder.objectRef<RowOf<"capabilityTotal">>("CapabilityTrend").implement({
  fields: (t) => ({
    capability: t.exposeString("capability"),
    window: t.field({ type: FiguresRef, resolve: figuresOf }),
    last7Days: t.field({
      type: FiguresRef,
      resolve: async ({ capability }, _, context) => (await fortnightOf(capability, context)).last_7_days,
    }),
    previous7Days: t.field({
      type: FiguresRef,
      resolve: async ({ capability }, _, context) => (await fortnightOf(capability, context)).previous_7_days,
    }),
  }),
});

const TrendConnection = builder.connectionObject(
  { type: TrendRef, name: "CapabilityTrendConnection" },
  { name: "CapabilityTrendEdge" },
);

const InsightsRef = builder.objectRef<object>("Insights").implement({
  description: "Summaries of hires (SHP §9.2). There are no summaries of single agents with private metrics.",
  fields: (t) => ({
    leaderboard: t.connection(
      {
        type: LeaderRef,
        description: "The agents that were hired most for a capability in the window, by weighted hires.",
        args: {
          orderDirection: t.arg({ type: OrderDirection }),
          capability: t.arg({ type: "Capability", required: true }),
        },
        resolve: (_, { capability, ...args }, context) => listPage(args, context, leaderList(capability)),
      },
      LeaderConnection,
    ),
    trends: t.connection(
      {
        type: TrendRef,
        description: "The capabilities that were hired in the window, by weighted hires, the most first.",
        args: { orderDirection: t.arg({ type: OrderDirection }) },
        resolve: (_, args, context) => listPage(args, context, capabilityList()),
      },
      TrendConnection,
    ),
    capabilitySeries: t.field({
      type: SeriesRef,
      args: {
        capability: t.arg({ type: "Capability", required: true }),
        days: t.arg.int({ defaultValue: 30 }),
      },
      resolve: (_, { capability, days }, context) =>
        told(() => capabilitySeries(context.db, capability, takeDays(days, context))),
    }),
    agentSeries: t.field({
      type: SeriesRef,
      description: "The agent's hires as the seller, day by day.",
      args: { agent: t.arg({ type: "Address", required: true }), days: t.arg.int({ defaultValue: 30 }) },
      resolve: (_, { agent, days }, context) =>
        told(() => agentSeries(context.db, agent, takeDays(days, context))),
    }),
    capabilityPercentiles: t.field({
      type: PercentilesRef,
      args: { capability: t.arg({ type: "Capability", required: true }) },
      resolve: (_, { capability }, context) => {
        context.takeRows(SAMPLE);
        return told(() => capabilityPercentiles(context.db, capability));
      },
    }),
    agentPercentiles: t.field({
      type: PercentilesRef,
      args: { agent: t.arg({ type: "Address", required: true }) },
      resolve: (_, { agent }, context) => {
        context.takeRows(SAMPLE);
        return told(() => agentPercentiles(context.db, agent));
      },
    }),
  }),
});

builder.queryField("insights", (t) =>
  t.field({
    type: InsightsRef,
    description:
      "Summaries of hires. If the operator has set a price, they are sold only at /v1/insights (x402).",
    resolve: (_, __, { insightsAreFree }) => {
      if (insightsAreFree) return {};
      throw queryError(
        "PAYMENT_REQUIRED",
        "This node sells insights: ask /v1/insights, which takes x402 payments.",
      );
    },
  }),
);

/** Converts an error to one of GraphQL: `PRIVATE_METRICS` about hidden figures, otherwise `NOT_FOUND`. */
async function told<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof TallystickError)) throw error;
    throw queryError(error.code === "private_metrics" ? "PRIVATE_METRICS" : "NOT_FOUND", error.message);
  }
}

/** A capability's last two weeks; all capabilities of a page are read together. */
function fortnightOf(capability: string, { batches, db, load }: QueryContext): Promise<Fortnight> {
  return batched(batches, "CapabilityTrend.days", capability, async (capabilities) => {
    const state = await load.state.load(STATE_ID);
    return fortnights(db, capabilities, state?.time ?? 0);
  });
}
