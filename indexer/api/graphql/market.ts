import { formatUsdc } from "tallystick-protocol/amount";
import type { MarketCounts } from "../../src/marketCounts.ts";
import { figuresOf } from "../insights/figures.ts";
import { capabilitySeries, marketSeries } from "../insights/series.ts";
import { marketCounts, marketTotals } from "../rows/market.ts";
import type { RowOf } from "../rows/rowsById.ts";
import { offeredList } from "../rows/tallies.ts";
import { builder, OrderDirection } from "./builder.ts";
import { queryError } from "./errors.ts";
import { FiguresRef, SeriesRef, takeDays } from "./hireFigures.ts";
import { listPage } from "./list.ts";

type Totals = Awaited<ReturnType<typeof marketTotals>>;

const CountsRef = builder.objectRef<MarketCounts>("MarketCounts").implement({
  description: "The present totals of the market.",
  fields: (t) => ({
    agents: t.field({ type: "SafeInt", resolve: (it) => it.agents }),
    sellers: t.field({
      type: "SafeInt",
      description: "Agents with a live listing.",
      resolve: (it) => it.sellers,
    }),
    tier1Agents: t.field({ type: "SafeInt", resolve: (it) => it.tier1Agents }),
    tier2Agents: t.field({ type: "SafeInt", resolve: (it) => it.tier2Agents }),
    clusteredAgents: t.field({
      type: "SafeInt",
      description: "Agents in any cluster.",
      resolve: (it) => it.clusteredAgents,
    }),
    clusters: t.field({ type: "SafeInt", resolve: (it) => it.clusters }),
    listings: t.field({
      type: "SafeInt",
      description: "The number of live listings.",
      resolve: (it) => it.listings,
    }),
    capabilities: t.field({
      type: "SafeInt",
      description: "Capabilities with a live listing.",
      resolve: (it) => it.capabilities,
    }),
    ratings: t.field({ type: "SafeInt", resolve: (it) => it.ratings }),
    escrowsHeld: t.field({ type: "SafeInt", resolve: (it) => it.escrowsHeld }),
    heldUsdc: t.field({
      type: "Usdc",
      description: "The sum that escrows hold now.",
      resolve: ({ heldAmount }) => formatUsdc(heldAmount),
    }),
  }),
});

const MarketRef = builder.objectRef<{ totals: () => Promise<Totals> }>("Market").implement({
  description: "The whole market. Its sums are kept up to date, so no request adds them up.",
  fields: (t) => ({
    counts: t.field({ type: CountsRef, resolve: (_, __, { db }) => marketCounts(db) }),
    window: t.field({
      type: FiguresRef,
      description: "All hires of the rolling window.",
      resolve: async ({ totals }) => figuresOf((await totals()).window),
    }),
    allTime: t.field({ type: FiguresRef, resolve: async ({ totals }) => figuresOf((await totals()).all) }),
    series: t.field({
      type: SeriesRef,
      args: { days: t.arg.int({ defaultValue: 30 }) },
      resolve: (_, { days }, context) => marketSeries(context.db, takeDays(days, context)),
    }),
  }),
});

const CapabilityRef = builder.objectRef<RowOf<"capabilityTotal">>("CapabilityMarket").implement({
  description: "A capability, with its offers and its hires.",
  fields: (t) => ({
    capability: t.exposeString("capability"),
    listings: t.field({
      type: "SafeInt",
      description: "The number of live listings.",
      resolve: (it) => it.listings,
    }),
    sellers: t.field({
      type: "SafeInt",
      description: "The number of agents with such a listing.",
      resolve: (it) => it.sellers,
    }),
    lowestPriceUsdc: t.field({
      type: "Usdc",
      nullable: true,
      description: "The lowest price of the live listings; null when there is none.",
      resolve: ({ lowestPrice }) => (lowestPrice === null ? null : formatUsdc(lowestPrice)),
    }),
    medianPriceUsdc: t.field({
      type: "Usdc",
      nullable: true,
      description:
        "The median price of the live listings (of an even number, the mean of the middle two); null when there is none.",
      resolve: ({ medianPrice }) => (medianPrice === null ? null : formatUsdc(medianPrice)),
    }),
    window: t.field({
      type: FiguresRef,
      nullable: true,
      description: "Its hires of the window; null when the operator sells insights.",
      resolve: (it, _, { insightsAreFree }) => (insightsAreFree ? figuresOf(it) : null),
    }),
    series: t.field({
      type: SeriesRef,
      nullable: true,
      description: "Its hires day by day; null when the operator sells insights.",
      args: { days: t.arg.int({ defaultValue: 30 }) },
      resolve: async ({ capability }, { days }, context) =>
        context.insightsAreFree ? capabilitySeries(context.db, capability, takeDays(days, context)) : null,
    }),
  }),
});

const CapabilityConnection = builder.connectionObject(
  { type: CapabilityRef, name: "CapabilityMarketConnection" },
  { name: "CapabilityMarketEdge" },
);

const CapabilityOrder = builder.enumType("CapabilityOrder", {
  values: {
    HIRES: { value: "hires", description: "The most weighted hires of the window first." },
    LISTINGS: { value: "listings", description: "The most live listings first." },
    NAME: { value: "name", description: "In alphabetical order." },
  } as const,
});

builder.queryFields((t) => ({
  market: t.field({
    type: MarketRef,
    resolve: (_, __, { db }) => {
      let totals: Promise<Totals> | undefined;
      return {
        totals: () => {
          totals ??= marketTotals(db);
          return totals;
        },
      };
    },
  }),
  capabilities: t.connection(
    {
      description:
        "Capabilities with a live listing, or with a hire in the window. Default order: the most hired first.",
      type: CapabilityRef,
      args: { orderDirection: t.arg({ type: OrderDirection }), orderBy: t.arg({ type: CapabilityOrder }) },
      resolve: (_, { orderBy, ...args }, context) => {
        // The cursors of this order would reveal figures that the operator sells.
        if (orderBy === "hires" && !context.insightsAreFree)
          throw queryError("PAYMENT_REQUIRED", "This node sells insights: order by LISTINGS or NAME.");
        return listPage(
          args,
          context,
          offeredList(orderBy ?? (context.insightsAreFree ? "hires" : "listings")),
        );
      },
    },
    CapabilityConnection,
  ),
  capability: t.field({
    type: CapabilityRef,
    nullable: true,
    description: "A capability; null if nobody ever offered it or was hired for it.",
    args: { name: t.arg({ type: "Capability", required: true }) },
    resolve: (_, { name }, { load }) => load.capabilityTotal.load(name),
  }),
}));
