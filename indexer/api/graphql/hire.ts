import type { Row } from "tallystick-derive/tables";
import { formatUsdc } from "tallystick-protocol/amount";
import { type HireWhere, hireList, hiresOf } from "../rows/hires.ts";
import { weightOf } from "../weightOf.ts";
import { type Agent, AgentRef, agentAt } from "./agent.ts";
import { builder, OrderDirection } from "./builder.ts";
import type { QueryContext } from "./context.ts";
import { listPage } from "./list.ts";
import { NodeRef, registerNode } from "./node.ts";
import type { PageArgs } from "./pageArgs.ts";

export const HireOutcome = builder.enumType("HireOutcome", {
  values: {
    SUCCESS: { value: "success" },
    FAILURE: { value: "failure" },
    NEUTRAL: {
      value: "neutral",
      description: "The escrow timed out after delivery. The hire does not count in the success rate.",
    },
  } as const,
});

const HireEvidence = builder.enumType("HireEvidence", {
  description: "The source of the outcome.",
  values: {
    AUDIT: {
      value: "audit",
      description:
        "An audit found the work bad, and the hire was rolled back. This outranks every other source.",
    },
    ESCROW: { value: "escrow" },
    BUYER: { value: "buyer" },
    SELLER: { value: "seller" },
  } as const,
});

export const HireRef = builder.objectRef<Row<"hire">>("Hire").implement({
  interfaces: [NodeRef],
  description:
    "A counted hire: a payment on the chain, with the receipt that says what was paid for, if there is one.",
  fields: (t) => ({
    id: t.id({
      description: "For a direct hire its payment's `<tx>-<log>`, for an escrow hire `<escrow>-hire`.",
      resolve: ({ id, escrowId }) => (escrowId === null ? id : `${id}-hire`),
    }),
    hireId: t.exposeString("hireId", { description: "The id that the buyer gave it." }),
    sellerAddress: t.field({ type: "Address", resolve: ({ seller }) => seller }),
    buyerAddress: t.field({ type: "Address", resolve: ({ buyer }) => buyer }),
    seller: t.field(agentAt(({ seller }) => seller)),
    buyer: t.field(agentAt(({ buyer }) => buyer)),
    capability: t.exposeString("capability", { nullable: true }),
    paymentMode: t.exposeString("paymentMode"),
    priceUsdc: t.field({
      type: "Usdc",
      description: "What was paid to the seller, including the fee.",
      resolve: ({ price }) => formatUsdc(price),
    }),
    amountUsdc: t.field({
      type: "Usdc",
      description: "What the buyer paid or deposited.",
      resolve: ({ amount }) => formatUsdc(amount),
    }),
    outcome: t.field({ type: HireOutcome, resolve: ({ outcome }) => outcome as "success" }),
    evidence: t.field({ type: HireEvidence, resolve: ({ evidence }) => evidence as "escrow" }),
    refunded: t.exposeBoolean("refunded"),
    dispute: t.exposeBoolean("dispute"),
    disputeSource: t.exposeString("disputeSource", { nullable: true }),
    silentTimeout: t.exposeBoolean("silentTimeout"),
    refundAfterDelivery: t.exposeBoolean("refundAfterDelivery", {
      description:
        "Whether its buyer took the money back after delivery was marked: by a refund, by the arbiter that it chose, or by a split that gave the seller less than half.",
    }),
    clusterSize: t.exposeInt("clusterSize", {
      description:
        "The size of the cluster that buyer and seller shared when the hire was counted, else 1. The hire weighs 1 divided by this. If a hub is published late, this becomes 1.",
    }),
    weight: t.float({ resolve: weightOf }),
    latencyMs: t.field({ type: "SafeInt", nullable: true, resolve: ({ latencyMs }) => latencyMs }),
    time: t.field({
      type: "SafeInt",
      description: "When it was paid, or when its escrow was settled.",
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

export const HireConnection = builder.connectionObject(
  { type: HireRef, name: "HireConnection" },
  { name: "HireEdge" },
);

/** A hire by the id that GraphQL gives it, or by the id of its escrow. */
const findHire = (id: string, { load }: QueryContext) => load.hire.load(id.replace(/-hire$/, ""));

registerNode("Hire", { form: /^0x[0-9a-f]{64}-([0-9]+|hire)$/, find: findHire });

const HireFilter = builder.inputType("HireFilter", {
  fields: (t) => ({
    seller: t.field({ type: "Address" }),
    buyer: t.field({ type: "Address" }),
    capability: t.field({ type: "Capability" }),
    outcome: t.field({ type: HireOutcome }),
    evidence: t.field({ type: HireEvidence }),
    paidFrom: t.field({ type: "SafeInt", description: "Unix seconds, inclusive." }),
    paidBefore: t.field({ type: "SafeInt", description: "Unix seconds, exclusive." }),
  }),
});

/** Hires, the latest first. */
async function hirePage(args: PageArgs, context: QueryContext, where: HireWhere) {
  const coarseCount = (await isPrivate(where.seller, context)) || (await isPrivate(where.buyer, context));
  return listPage(args, context, hireList(where), { coarseCount });
}

async function isPrivate(address: string | null | undefined, { load }: QueryContext): Promise<boolean> {
  return address ? ((await load.agent.load(address))?.privateListings ?? 0) > 0 : false;
}

/** An agent's hires on one side. The hires of all agents of a request are read together. */
function hiresPage({ row }: Agent, side: "seller" | "buyer", args: PageArgs, context: QueryContext) {
  return listPage(args, context, hiresOf(row.id, side), { coarseCount: row.privateListings > 0 });
}

builder.objectFields(AgentRef, (t) => ({
  hires: t.connection(
    {
      description: "Its counted hires as the seller, the latest first.",
      type: HireRef,
      args: { orderDirection: t.arg({ type: OrderDirection }) },
      resolve: (agent, args, context) => hiresPage(agent, "seller", args, context),
    },
    HireConnection,
  ),
  hiresAsBuyer: t.connection(
    {
      description: "Its counted hires as the buyer, the latest first.",
      type: HireRef,
      args: { orderDirection: t.arg({ type: OrderDirection }) },
      resolve: (agent, args, context) => hiresPage(agent, "buyer", args, context),
    },
    HireConnection,
  ),
}));

builder.queryFields((t) => ({
  hire: t.field({
    type: HireRef,
    nullable: true,
    args: {
      id: t.arg.id({ required: true, description: "`Hire.id`, or the id of its escrow." }),
    },
    resolve: (_, { id }, context) => findHire(id, context),
  }),
  hires: t.connection(
    {
      description:
        "Counted hires, the latest first. With several filters a page may have fewer rows than asked for, although more follow (see agents).",
      type: HireRef,
      args: { orderDirection: t.arg({ type: OrderDirection }), where: t.arg({ type: HireFilter }) },
      resolve: (_, { where, ...args }, context) => hirePage(args, context, where ?? {}),
    },
    HireConnection,
  ),
}));
