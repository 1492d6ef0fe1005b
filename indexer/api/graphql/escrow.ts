import type { Row } from "tallystick-derive/tables";
import { ZERO_ADDRESS } from "tallystick-protocol/address";
import { formatUsdc } from "tallystick-protocol/amount";
import { escrowList } from "../rows/escrows.ts";
import { builder, OrderDirection } from "./builder.ts";
import { plainText } from "./errors.ts";
import { HireRef } from "./hire.ts";
import { listPage } from "./list.ts";
import { NodeRef, registerNode } from "./node.ts";

const EscrowStatus = builder.enumType("EscrowStatus", {
  values: {
    HELD: { value: "held" },
    RELEASED: { value: "released" },
    REFUNDED: { value: "refunded" },
    TIMED_OUT: { value: "timed_out" },
  } as const,
});

const orNull = (address: string) => (address === ZERO_ADDRESS ? null : address);
const usdcOrNull = (atomic: bigint | null) => (atomic === null ? null : formatUsdc(atomic));

export const EscrowRef = builder.objectRef<Row<"escrow">>("Escrow").implement({
  interfaces: [NodeRef],
  description: "Money held for a hire by a configured HireEscrow contract, and what became of it.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "EIP-712 digest of the hire's terms." }),
    provider: t.exposeString("provider"),
    contract: t.field({ type: "Address", resolve: ({ escrow }) => escrow }),
    hireId: t.exposeString("hireId"),
    buyerAddress: t.field({ type: "Address", resolve: ({ buyer }) => buyer }),
    sellerAddress: t.field({ type: "Address", resolve: ({ seller }) => seller }),
    payee: t.field({
      type: "Address",
      description: "Who is paid: the seller, unless the hire names another.",
      resolve: ({ payee, seller }) => orNull(payee) ?? seller,
    }),
    amountUsdc: t.field({ type: "Usdc", resolve: ({ amount }) => formatUsdc(amount) }),
    feeUsdc: t.field({ type: "Usdc", resolve: ({ fee }) => formatUsdc(fee) }),
    feeRecipient: t.field({
      type: "Address",
      nullable: true,
      resolve: ({ feeRecipient }) => orNull(feeRecipient),
    }),
    arbiter: t.field({ type: "Address", nullable: true, resolve: ({ arbiter }) => orNull(arbiter) }),
    deadline: t.field({ type: "SafeInt", resolve: ({ deadline }) => deadline }),
    depositedBlock: t.field({ type: "SafeInt", resolve: ({ depositedBlock }) => depositedBlock }),
    depositedTime: t.field({ type: "SafeInt", resolve: ({ depositedTime }) => depositedTime }),
    tx: t.exposeString("tx"),
    status: t.field({ type: EscrowStatus, resolve: ({ status }) => status as "held" }),
    delivered: t.exposeBoolean("delivered", {
      description: "The seller marked it delivered before the deadline.",
    }),
    resultHash: t.exposeString("resultHash", { nullable: true }),
    toSellerUsdc: t.field({ type: "Usdc", nullable: true, resolve: ({ toSeller }) => usdcOrNull(toSeller) }),
    toBuyerUsdc: t.field({ type: "Usdc", nullable: true, resolve: ({ toBuyer }) => usdcOrNull(toBuyer) }),
    refundedBy: t.field({ type: "Address", nullable: true, resolve: ({ refundedBy }) => refundedBy }),
    settledTime: t.field({ type: "SafeInt", nullable: true, resolve: ({ settledTime }) => settledTime }),
    receiptHash: t.exposeString("receipt", { nullable: true }),
    hire: t.field({
      type: HireRef,
      nullable: true,
      resolve: ({ hire }, _, { load }) => (hire === null ? null : load.hire.load(hire)),
    }),
  }),
});

const EscrowConnection = builder.connectionObject(
  { type: EscrowRef, name: "EscrowConnection" },
  { name: "EscrowEdge" },
);

registerNode("Escrow", { form: /^0x[0-9a-f]{64}$/, find: (id, { load }) => load.escrow.load(id) });

const EscrowFilter = builder.inputType("EscrowFilter", {
  fields: (t) => ({
    seller: t.field({ type: "Address" }),
    buyer: t.field({ type: "Address" }),
    status: t.field({ type: EscrowStatus }),
    provider: t.string(),
  }),
});

builder.queryFields((t) => ({
  escrow: t.field({
    type: EscrowRef,
    nullable: true,
    args: { id: t.arg.id({ required: true }) },
    resolve: (_, { id }, { load }) => load.escrow.load(id),
  }),
  escrows: t.connection(
    {
      description:
        "Escrows, the latest deposit first. A page narrowed by several filters may be short (see agents).",
      type: EscrowRef,
      args: { orderDirection: t.arg({ type: OrderDirection }), where: t.arg({ type: EscrowFilter }) },
      resolve: (_, { where, ...args }, context) => {
        if (where?.provider) plainText(where.provider, "provider");
        return listPage(args, context, escrowList(where ?? {}));
      },
    },
    EscrowConnection,
  ),
}));
