import type { Row } from "tallystick-derive/tables";
import { formatUsdc } from "tallystick-protocol/amount";
import { receiptsOf } from "../rows/receipts.ts";
import { AgentRef, agentAt } from "./agent.ts";
import { builder, OrderDirection } from "./builder.ts";
import { plainText } from "./errors.ts";
import { EscrowRef } from "./escrow.ts";
import { HireRef } from "./hire.ts";
import { listPage } from "./list.ts";
import { NodeRef, registerNode } from "./node.ts";

const ReceiptStatus = builder.enumType("ReceiptStatus", {
  values: {
    PENDING: { value: "pending", description: "It waits for its payment, or for its escrow to be settled." },
    COUNTED: { value: "counted", description: "Its payment was found, and the hire is counted." },
    FREE: { value: "free", description: "A free call that the buyer signed." },
    UNMATCHED: { value: "unmatched", description: "No payment came in time." },
    DUPLICATE: { value: "duplicate", description: "The same hire, or the free call, was counted before." },
  } as const,
});

export const ReceiptRef = builder.objectRef<Row<"receipt">>("Receipt").implement({
  interfaces: [NodeRef],
  description: "A seller's signed statement about a hire and its payment (SHP §9.2).",
  fields: (t) => ({
    id: t.exposeID("id"),
    hash: t.exposeString("id", { description: "Hash of its ledger entry." }),
    sellerAddress: t.field({ type: "Address", resolve: ({ agent }) => agent }),
    buyerAddress: t.field({ type: "Address", resolve: ({ buyer }) => buyer }),
    seller: t.field(agentAt(({ agent }) => agent)),
    buyer: t.field(agentAt(({ buyer }) => buyer)),
    payee: t.field({ type: "Address", resolve: ({ payee }) => payee }),
    capability: t.exposeString("capability"),
    hireId: t.exposeString("hireId"),
    tx: t.exposeString("txHash", {
      description: "The transaction of the payment that it claims; zero for a free call.",
    }),
    log: t.field({ type: "SafeInt", nullable: true, resolve: ({ logIndex }) => logIndex }),
    amountUsdc: t.field({ type: "Usdc", resolve: ({ amount }) => formatUsdc(amount) }),
    completedAt: t.field({ type: "SafeInt", resolve: ({ completedAt }) => completedAt }),
    allPassed: t.exposeBoolean("allPassed", { description: "Whether the seller's own verification passed." }),
    latencyMs: t.field({ type: "SafeInt", nullable: true, resolve: ({ latencyMs }) => latencyMs }),
    buyerSigned: t.exposeBoolean("buyerSigned", { description: "Whether the buyer signed it too." }),
    time: t.field({ type: "SafeInt", description: "When it was anchored.", resolve: ({ time }) => time }),
    status: t.field({ type: ReceiptStatus, resolve: ({ status }) => status as "pending" }),
    escrow: t.field({
      type: EscrowRef,
      nullable: true,
      resolve: ({ escrowId }, _, { load }) => (escrowId === null ? null : load.escrow.load(escrowId)),
    }),
    hire: t.field({
      type: HireRef,
      nullable: true,
      resolve: ({ hire }, _, { load }) => (hire === null ? null : load.hire.load(hire)),
    }),
  }),
});

registerNode("Receipt", { form: /^[0-9a-f]{64}$/, find: (id, { load }) => load.receipt.load(id) });

const ReceiptConnection = builder.connectionObject(
  { type: ReceiptRef, name: "ReceiptConnection" },
  { name: "ReceiptEdge" },
);

builder.objectField(AgentRef, "receipts", (t) =>
  t.connection(
    {
      description: "The receipts that it signed, the latest first, also those that do not count.",
      type: ReceiptRef,
      args: { orderDirection: t.arg({ type: OrderDirection }), status: t.arg({ type: ReceiptStatus }) },
      resolve: ({ row }, { status, ...args }, context) =>
        listPage(args, context, receiptsOf(row.id, status), { coarseCount: row.privateListings > 0 }),
    },
    ReceiptConnection,
  ),
);

builder.objectField(HireRef, "receipt", (t) =>
  t.field({
    type: ReceiptRef,
    nullable: true,
    description: "The seller's receipt; null while only the escrow shows the hire.",
    resolve: ({ receipt }, _, { load }) => (receipt === null ? null : load.receipt.load(receipt)),
  }),
);

builder.queryField("receipt", (t) =>
  t.field({
    type: ReceiptRef,
    nullable: true,
    description: "The receipt with this entry hash (64 hex digits).",
    args: { hash: t.arg.string({ required: true }) },
    resolve: (_, { hash }, { load }) => load.receipt.load(plainText(hash, "hash")),
  }),
);
