import { and, eq } from "ponder";
import { formatUsdc } from "../../../../protocol/amount.ts";
import * as schema from "../../../ponder.schema.ts";
import type { Row } from "../../derive/tables.ts";
import { AgentRef, findAgent } from "./agent.ts";
import { builder } from "./builder.ts";
import type { QueryContext } from "./context.ts";
import { keysetPage, type PageArgs } from "./keyset.ts";

const HireOutcome = builder.enumType("HireOutcome", {
  values: {
    SUCCESS: { value: "success" },
    FAILURE: { value: "failure" },
    NEUTRAL: { value: "neutral", description: "Timed out after delivery: left out of the success rate." },
  } as const,
});

const HireEvidence = builder.enumType("HireEvidence", {
  description: "Whose word the outcome rests on.",
  values: { ESCROW: { value: "escrow" }, BUYER: { value: "buyer" }, SELLER: { value: "seller" } } as const,
});

export const HireRef = builder.objectRef<Row<"hire">>("Hire").implement({
  description: "A counted hire: a payment on the chain with the record that says what it was for.",
  fields: (t) => ({
    id: t.exposeID("id", {
      description: "The escrow's id, or the payment's transaction and log: `<tx>-<log>`.",
    }),
    hireId: t.exposeString("hireId", { description: "The id that buyer and seller gave it." }),
    sellerAddress: t.field({ type: "Address", resolve: ({ seller }) => seller }),
    buyerAddress: t.field({ type: "Address", resolve: ({ buyer }) => buyer }),
    seller: t.field({
      type: AgentRef,
      nullable: true,
      resolve: ({ seller }, _, context) => findAgent(seller, context),
    }),
    buyer: t.field({
      type: AgentRef,
      nullable: true,
      resolve: ({ buyer }, _, context) => findAgent(buyer, context),
    }),
    capability: t.exposeString("capability", { nullable: true }),
    paymentMode: t.exposeString("paymentMode"),
    priceUsdc: t.field({
      type: "Usdc",
      description: "What went to the seller, fee included.",
      resolve: ({ price }) => formatUsdc(price),
    }),
    amountUsdc: t.field({
      type: "Usdc",
      description: "What the buyer put up.",
      resolve: ({ amount }) => formatUsdc(amount),
    }),
    outcome: t.field({ type: HireOutcome, resolve: ({ outcome }) => outcome as "success" }),
    evidence: t.field({ type: HireEvidence, resolve: ({ evidence }) => evidence as "escrow" }),
    refunded: t.exposeBoolean("refunded"),
    dispute: t.exposeBoolean("dispute"),
    disputeSource: t.exposeString("disputeSource", { nullable: true }),
    silentTimeout: t.exposeBoolean("silentTimeout"),
    refundAfterDelivery: t.exposeBoolean("refundAfterDelivery"),
    clusterSize: t.exposeInt("clusterSize", {
      description:
        "Size of the cluster that buyer and seller shared when it was counted, else 1; the hire weighs 1 over this.",
    }),
    weight: t.float({ resolve: ({ clusterSize }) => Math.round(1e9 / clusterSize) / 1e9 }),
    latencyMs: t.field({ type: "SafeInt", nullable: true, resolve: ({ latencyMs }) => latencyMs }),
    time: t.field({
      type: "SafeInt",
      description: "When it was paid, or its escrow settled.",
      resolve: ({ time }) => time,
    }),
    tx: t.exposeString("tx"),
    escrowId: t.exposeID("escrowId", { nullable: true }),
    receiptHash: t.exposeString("receipt", {
      nullable: true,
      description: "Hash of the ledger entry with the seller's receipt.",
    }),
  }),
});

const HireConnection = builder.connectionObject(
  { type: HireRef, name: "HireConnection" },
  { name: "HireEdge" },
);

const HireFilter = builder.inputType("HireFilter", {
  fields: (t) => ({ seller: t.field({ type: "Address" }), buyer: t.field({ type: "Address" }) }),
});

/** Hires, the latest first. */
function hirePage(
  args: PageArgs,
  context: QueryContext,
  where: { seller?: string | null; buyer?: string | null } = {},
) {
  const { hire } = schema;
  const { seller, buyer } = where;
  return keysetPage(args, context, {
    order: [hire.time, hire.id],
    direction: "desc",
    select: ({ after, order, limit }) =>
      context.db
        .select()
        .from(hire)
        .where(
          and(seller ? eq(hire.seller, seller) : undefined, buyer ? eq(hire.buyer, buyer) : undefined, after),
        )
        .orderBy(...order)
        .limit(limit),
    keyOf: ({ time, id }) => [time, id],
  });
}

builder.objectField(AgentRef, "hires", (t) =>
  t.connection(
    {
      description: "Its counted hires as the seller, the latest first.",
      type: HireRef,
      resolve: ({ row }, args, context) => hirePage(args, context, { seller: row.id }),
    },
    HireConnection,
  ),
);

builder.queryFields((t) => ({
  hire: t.field({
    type: HireRef,
    nullable: true,
    args: { id: t.arg.id({ required: true }) },
    resolve: (_, { id }, { load }) => load.hire.load(id),
  }),
  hires: t.connection(
    {
      description: "Counted hires, the latest first.",
      type: HireRef,
      args: { where: t.arg({ type: HireFilter }) },
      resolve: (_, { where, ...args }, context) => hirePage(args, context, where ?? {}),
    },
    HireConnection,
  ),
}));
