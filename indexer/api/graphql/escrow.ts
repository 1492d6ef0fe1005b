import type { Row } from "tallystick-derive/tables";
import { ZERO_ADDRESS } from "tallystick-protocol/address";
import { formatUsdc } from "tallystick-protocol/amount";
import { ESCROW_STEPS, escrowList, inChainOrder } from "../rows/escrows.ts";
import type { RowOf } from "../rows/rowsById.ts";
import { builder, OrderDirection } from "./builder.ts";
import type { QueryContext } from "./context.ts";
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

const EscrowStepKind = builder.enumType("EscrowStepKind", {
  values: {
    DEPOSITED: { value: "deposited" },
    DELIVERED: { value: "delivered" },
    RELEASED: { value: "released" },
    REFUNDED: { value: "refunded" },
    TIMED_OUT: { value: "timed_out" },
  } as const,
});

const EscrowStepRef = builder.objectRef<RowOf<"escrowStep">>("EscrowStep").implement({
  description: "An event of an escrow, with its transaction.",
  fields: (t) => ({
    kind: t.field({ type: EscrowStepKind, resolve: ({ kind }) => kind as "deposited" }),
    tx: t.exposeString("tx"),
    block: t.field({ type: "SafeInt", resolve: ({ block }) => block }),
    time: t.field({ type: "SafeInt", resolve: ({ time }) => time }),
    log: t.field({ type: "SafeInt", resolve: ({ log }) => log }),
  }),
});

/** The steps of an escrow in the order in which they came; all escrows of a page are read together. */
async function stepsOf(id: string, { load }: QueryContext): Promise<RowOf<"escrowStep">[]> {
  const found = await Promise.all(ESCROW_STEPS.map((kind) => load.escrowStep.load(`${id}/${kind}`)));
  return inChainOrder(found.filter((row) => row !== null));
}

/** The transaction that ended an escrow; null while its money is held. */
async function settlementOf(id: string, context: QueryContext): Promise<string | null> {
  const last = (await stepsOf(id, context)).at(-1);
  return last === undefined || last.kind === "deposited" || last.kind === "delivered" ? null : last.tx;
}

export const EscrowRef = builder.objectRef<Row<"escrow">>("Escrow").implement({
  interfaces: [NodeRef],
  description: "Money that a configured HireEscrow contract holds or held for a hire.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "EIP-712 digest of the hire's terms." }),
    provider: t.exposeString("provider"),
    contract: t.field({ type: "Address", resolve: ({ escrow }) => escrow }),
    hireId: t.exposeString("hireId"),
    buyerAddress: t.field({ type: "Address", resolve: ({ buyer }) => buyer }),
    sellerAddress: t.field({ type: "Address", resolve: ({ seller }) => seller }),
    payee: t.field({
      type: "Address",
      description: "The receiver of the money: the seller, unless the hire names another account.",
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
    tx: t.exposeString("tx", { description: "The transaction of the deposit." }),
    settlementTx: t.string({
      nullable: true,
      description: "The transaction that released, refunded or timed it out; null while the money is held.",
      resolve: ({ id }, _, context) => settlementOf(id, context),
    }),
    steps: t.field({
      type: [EscrowStepRef],
      description: "Its events on the chain, in order.",
      resolve: ({ id }, _, context) => stepsOf(id, context),
    }),
    status: t.field({ type: EscrowStatus, resolve: ({ status }) => status as "held" }),
    delivered: t.exposeBoolean("delivered", {
      description: "Whether the seller marked the delivery before the deadline.",
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

export const EscrowConnection = builder.connectionObject(
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
        "Escrows, the latest deposit first. With several filters a page may have fewer rows than asked for, although more follow (see agents).",
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
