import { figuresOf } from "../insights/figures.ts";
import { agentHistory, type DayRates, type RateHistory, WINDOW_DAYS } from "../insights/history.ts";
import { agentSeries } from "../insights/series.ts";
import type { RowOf } from "../rows/rowsById.ts";
import { counterpartyList } from "../rows/tallies.ts";
import { AgentRef, agentAt } from "./agent.ts";
import { builder, OrderDirection } from "./builder.ts";
import type { QueryContext } from "./context.ts";
import { FiguresRef, SeriesRef, takeDays } from "./hireFigures.ts";
import { listPage } from "./list.ts";

type Side = "seller" | "buyer";
/** A pair of buyer and seller, seen from one side. */
type Counterparty = { pair: RowOf<"agentPair">; other: string };

const SideEnum = builder.enumType("HireSide", {
  values: {
    SELLER: { value: "seller", description: "The agent is the seller." },
    BUYER: { value: "buyer", description: "The agent is the buyer." },
  } as const,
});

const CounterpartyRef = builder.objectRef<Counterparty>("Counterparty").implement({
  description: "An agent that another agent had hires with.",
  fields: (t) => ({
    address: t.field({ type: "Address", resolve: ({ other }) => other }),
    agent: t.field(agentAt(({ other }) => other)),
    figures: t.field({
      type: FiguresRef,
      nullable: true,
      description: "The figures of all hires between the two; null when the seller has private metrics.",
      resolve: async ({ pair }, _, { load }) =>
        isPrivate(await load.agent.load(pair.seller)) ? null : figuresOf(pair),
    }),
  }),
});

const CounterpartyConnection = builder.connectionObject(
  { type: CounterpartyRef, name: "CounterpartyConnection" },
  { name: "CounterpartyEdge" },
);

const DayRatesRef = builder.objectRef<DayRates>("DayRates").implement({
  description: `An agent's rates at the end of a day, over the ${WINDOW_DAYS} days up to it.`,
  fields: (t) => ({
    day: t.exposeString("day", { description: "UTC, such as 2026-01-31." }),
    hires: t.exposeInt("hires"),
    weightedHires: t.exposeFloat("weighted_hires"),
    successRate: t.exposeFloat("success_rate", {
      nullable: true,
      description: "The success rate, by weight: hires inside clusters weigh less.",
    }),
    avgLatencyMs: t.exposeFloat("avg_latency_ms", { nullable: true }),
    volumeUsdc: t.field({ type: "Usdc", resolve: (it) => it.volume_usdc }),
  }),
});

const HistoryRef = builder.objectRef<RateHistory>("RateHistory").implement({
  description:
    "Rates of whole days, computed from the outcomes as they are known now. The figures that were published on those days may differ.",
  fields: (t) => ({
    from: t.exposeString("from"),
    to: t.exposeString("to"),
    days: t.field({
      type: [DayRatesRef],
      description: "One entry for every day.",
      resolve: ({ days }) => days,
    }),
  }),
});

function isPrivate(row: { privateListings: number } | null): boolean {
  return (row?.privateListings ?? 0) > 0;
}

builder.objectFields(AgentRef, (t) => ({
  counterparties: t.connection(
    {
      type: CounterpartyRef,
      description:
        "The agents that it had hires with, by the number of hires, the most first. A seller with private metrics is in no buyer's list, and its own list is in the order of the buyers' addresses.",
      args: {
        orderDirection: t.arg({ type: OrderDirection }),
        as: t.arg({ type: SideEnum, defaultValue: "seller", description: "The agent's own side." }),
      },
      resolve: ({ row }, { as, ...args }, context) => {
        const side: Side = as ?? "seller";
        const toNode = (pair: RowOf<"agentPair">) => ({
          pair,
          other: side === "seller" ? pair.buyer : pair.seller,
        });
        const coarseCount = isPrivate(row);
        return listPage(args, context, counterpartyList(row, side), { toNode, coarseCount });
      },
    },
    CounterpartyConnection,
  ),
  history: t.field({
    type: HistoryRef,
    nullable: true,
    description:
      "Its rates as the seller, day by day. Null when it has private metrics, or when the operator sells insights.",
    args: { days: t.arg.int({ defaultValue: 30 }) },
    resolve: async ({ row }, { days }, context: QueryContext) => {
      const asked = takeDays(days, context);
      return isPrivate(row) || !context.insightsAreFree ? null : agentHistory(context.db, row.id, asked);
    },
  }),
  series: t.field({
    type: SeriesRef,
    nullable: true,
    description:
      "Its hires as the seller, day by day. Null when it has private metrics, or when the operator sells insights.",
    args: { days: t.arg.int({ defaultValue: 30 }) },
    resolve: async ({ row }, { days }, context: QueryContext) => {
      const asked = takeDays(days, context);
      return isPrivate(row) || !context.insightsAreFree ? null : agentSeries(context.db, row.id, asked);
    },
  }),
}));
