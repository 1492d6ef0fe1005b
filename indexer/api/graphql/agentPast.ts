import { figuresOf } from "../insights/figures.ts";
import { agentHistory, type DayRates, type RateHistory, WINDOW_DAYS } from "../insights/history.ts";
import type { RowOf } from "../rows/rowsById.ts";
import { counterpartyList } from "../rows/tallies.ts";
import { AgentRef, agentAt } from "./agent.ts";
import { builder, OrderDirection } from "./builder.ts";
import type { QueryContext } from "./context.ts";
import { FiguresRef, takeDays } from "./hireFigures.ts";
import { listPage } from "./list.ts";

type Side = "seller" | "buyer";
/** A pair, seen from one of its sides. */
type Counterparty = { pair: RowOf<"agentPair">; other: string };

const SideEnum = builder.enumType("HireSide", {
  values: {
    SELLER: { value: "seller", description: "It was hired." },
    BUYER: { value: "buyer", description: "It hired." },
  } as const,
});

const CounterpartyRef = builder.objectRef<Counterparty>("Counterparty").implement({
  description: "Who an agent had hires with.",
  fields: (t) => ({
    address: t.field({ type: "Address", resolve: ({ other }) => other }),
    agent: t.field(agentAt(({ other }) => other)),
    figures: t.field({
      type: FiguresRef,
      nullable: true,
      description: "Of all hires between the two; null when the seller has private metrics.",
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
  description: `How an agent stood at the end of a day, over the ${WINDOW_DAYS} days up to it.`,
  fields: (t) => ({
    day: t.exposeString("day", { description: "UTC, such as 2026-01-31." }),
    hires: t.exposeInt("hires"),
    weightedHires: t.exposeFloat("weighted_hires"),
    successRate: t.exposeFloat("success_rate", { nullable: true, description: "Dampened inside clusters." }),
    avgLatencyMs: t.exposeFloat("avg_latency_ms", { nullable: true }),
    volumeUsdc: t.field({ type: "Usdc", resolve: (it) => it.volume_usdc }),
  }),
});

const HistoryRef = builder.objectRef<RateHistory>("RateHistory").implement({
  description:
    "Whole days, and outcomes as they are known now: what was published on a day may have been another figure.",
  fields: (t) => ({
    from: t.exposeString("from"),
    to: t.exposeString("to"),
    days: t.field({ type: [DayRatesRef], description: "Every day.", resolve: ({ days }) => days }),
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
        "Whom it had hires with, the most first. A seller with private metrics is in no buyer's list, and its own is in the order of the buyers' addresses.",
      args: {
        orderDirection: t.arg({ type: OrderDirection }),
        as: t.arg({ type: SideEnum, defaultValue: "seller", description: "On which side it stood itself." }),
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
      "How its rates as the seller went; null when it has private metrics, and where the operator sells insights.",
    args: { days: t.arg.int({ defaultValue: 30 }) },
    resolve: async ({ row }, { days }, context: QueryContext) => {
      const asked = takeDays(days, context);
      return isPrivate(row) || !context.insightsAreFree ? null : agentHistory(context.db, row.id, asked);
    },
  }),
}));
