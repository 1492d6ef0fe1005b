import { and, eq, gte, lt } from "ponder";
import type { Row } from "tallystick-derive/tables";
import { formatUsdc } from "tallystick-protocol/amount";
import * as schema from "../../ponder.schema.ts";
import { type Agent, AgentRef, findAgent } from "./agent.ts";
import { builder, OrderDirection } from "./builder.ts";
import type { QueryContext } from "./context.ts";
import { known, listPage, readAlong } from "./list.ts";
import { NodeRef, registerNode } from "./node.ts";
import type { PageArgs } from "./pageArgs.ts";

export const HireOutcome = builder.enumType("HireOutcome", {
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
  interfaces: [NodeRef],
  description: "A counted hire: a payment on the chain with the record that says what it was for.",
  fields: (t) => ({
    id: t.id({
      description: "Of a direct hire the payment's `<tx>-<log>`, of one over an escrow `<escrow>-hire`.",
      resolve: ({ id, escrowId }) => (escrowId === null ? id : `${id}-hire`),
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

export const HireConnection = builder.connectionObject(
  { type: HireRef, name: "HireConnection" },
  { name: "HireEdge" },
);

/** A hire by the id that GraphQL gives it, or by the escrow's. */
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

export type HireWhere = Partial<{
  seller: string | null;
  buyer: string | null;
  capability: string | null;
  outcome: string | null;
  evidence: string | null;
  paidFrom: number | null;
  paidBefore: number | null;
}>;

/** Hires, the latest first. */
export async function hirePage(args: PageArgs, context: QueryContext, where: HireWhere = {}) {
  const { hire } = schema;
  const { seller, buyer, capability, outcome, evidence, paidFrom, paidBefore } = where;
  const along = known([hire.buyer, buyer], [hire.seller, seller], [hire.capability, capability]);
  return listPage(args, context, {
    table: hire,
    of: readAlong("hires", along[0], where),
    order: [hire.time, hire.id],
    direction: "desc",
    where: and(
      typeof paidFrom === "number" ? gte(hire.time, paidFrom) : undefined,
      typeof paidBefore === "number" ? lt(hire.time, paidBefore) : undefined,
    ),
    filter: and(
      ...along.slice(1).map(([column, value]) => eq(column, value)),
      outcome ? eq(hire.outcome, outcome) : undefined,
      evidence ? eq(hire.evidence, evidence) : undefined,
    ),
    coarseCount: (await isPrivate(seller, context)) || (await isPrivate(buyer, context)),
    toNode: (row) => row,
  });
}

async function isPrivate(address: string | null | undefined, { load }: QueryContext): Promise<boolean> {
  return address ? ((await load.agent.load(address))?.privateListings ?? 0) > 0 : false;
}

/** An agent's hires on one side, those of all agents of a request read together. */
function hiresOf({ row }: Agent, side: "seller" | "buyer", args: PageArgs, context: QueryContext) {
  const { hire } = schema;
  return listPage(args, context, {
    table: hire,
    of: { name: `Agent.hires ${side}`, column: hire[side], id: row.id },
    order: [hire.time, hire.id],
    direction: "desc",
    coarseCount: row.privateListings > 0,
    toNode: (it) => it,
  });
}

builder.objectFields(AgentRef, (t) => ({
  hires: t.connection(
    {
      description: "Its counted hires as the seller, the latest first.",
      type: HireRef,
      args: { orderDirection: t.arg({ type: OrderDirection }) },
      resolve: (agent, args, context) => hiresOf(agent, "seller", args, context),
    },
    HireConnection,
  ),
  hiresAsBuyer: t.connection(
    {
      description: "Its counted hires as the buyer, the latest first.",
      type: HireRef,
      args: { orderDirection: t.arg({ type: OrderDirection }) },
      resolve: (agent, args, context) => hiresOf(agent, "buyer", args, context),
    },
    HireConnection,
  ),
}));

builder.queryFields((t) => ({
  hire: t.field({
    type: HireRef,
    nullable: true,
    args: {
      id: t.arg.id({ required: true, description: "As `Hire.id` gives it, or the id of its escrow." }),
    },
    resolve: (_, { id }, context) => findHire(id, context),
  }),
  hires: t.connection(
    {
      description:
        "Counted hires, the latest first. A page narrowed by several filters may be short (see agents).",
      type: HireRef,
      args: { orderDirection: t.arg({ type: OrderDirection }), where: t.arg({ type: HireFilter }) },
      resolve: (_, { where, ...args }, context) => hirePage(args, context, where ?? {}),
    },
    HireConnection,
  ),
}));
