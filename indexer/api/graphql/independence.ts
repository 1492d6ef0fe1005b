import type { Row } from "tallystick-derive/tables";
import { formatUsdc } from "tallystick-protocol/amount";
import { buyerFamilies, unansweredEscrows, unreceiptedPayments } from "../rows/families.ts";
import { type Agent, AgentRef, agentAt } from "./agent.ts";
import { builder, OrderDirection } from "./builder.ts";
import { EscrowConnection, EscrowRef } from "./escrow.ts";
import { FamilyRef } from "./family.ts";
import { listPage } from "./list.ts";

type BuyerFamilyRow = Row<"buyerFamily">;
type Unreceipted = Row<"unreceipted">;
type Returned = { account: string; value: bigint };

/** `buyerFamily.share` is in parts of 10⁻⁹. */
const NANO = 1e9;

const ReturnedRef = builder.objectRef<Returned>("ReturnedMoney").implement({
  description:
    "The money that came back to a family of buyers from one account, in transfers of at least `minFundingAtomic`.",
  fields: (t) => ({
    account: t.field({
      type: "Address",
      description:
        "The founder of the family of the seller or of one of its payees. A wallet whose family is `deep` is an account of its own.",
      resolve: ({ account }) => account,
    }),
    amountUsdc: t.field({ type: "Usdc", resolve: ({ value }) => formatUsdc(value) }),
  }),
});

const BuyerFamilyRef = builder.objectRef<BuyerFamilyRow>("BuyerFamily").implement({
  description: "What a family bought from a seller in the window, and what it adds to the seller's figures.",
  fields: (t) => ({
    family: t.field({ type: FamilyRef, resolve: ({ family }) => ({ id: family }) }),
    isIndependent: t.exposeBoolean("isIndependent", {
      description:
        "Whether it counts among `independentBuyers`: it is neither the seller's own family nor `deep`.",
    }),
    isEstablished: t.exposeBoolean("isEstablished", {
      description: "Whether it counts among `establishedBuyers` too.",
    }),
    hires: t.exposeInt("hires"),
    ratedHires: t.int({ resolve: ({ rated }) => rated }),
    successes: t.exposeInt("successes"),
    successShare: t.float({
      nullable: true,
      description:
        "successes / ratedHires, rounded half up to 9 decimals. `independentSuccessRate` is the mean of these shares. Null if no hire is rated.",
      resolve: ({ share }) => (share === null ? null : share / NANO),
    }),
    contestedRefunds: t.int({
      description: "The number of hires whose money it took back after the seller had marked the delivery.",
      resolve: ({ contested }) => contested,
    }),
    paidUsdc: t.field({
      type: "Usdc",
      description:
        "The money that it paid and that may have stayed with the seller. Money that went to its own family, to a payee that never acted, or to a ninth family of payees is not counted.",
      resolve: ({ paid }) => formatUsdc(paid),
    }),
    broughtUsdc: t.field({
      type: "Usdc",
      description:
        "The part of paidUsdc that the family had brought from outside: from hubs, from wallets that had sent `hubTransfers` transfers, or from mints. Money that reached the buyer in the block of its payment does not count. Each unit pays for one hire only, so money that goes round adds nothing.",
      resolve: ({ brought }) => formatUsdc(brought),
    }),
    returned: t.field({
      type: [ReturnedRef],
      description:
        "The money that came back from each account that counts. Money that came back after the last tick is subtracted at the next tick.",
      resolve: async ({ family, sources }, _, { load, takeRows }): Promise<Returned[]> => {
        const accounts = sources.split(" ").filter((it) => it !== "");
        takeRows(accounts.length);
        return Promise.all(
          accounts.map(async (account) => ({
            account,
            value: (await load.flow.load(`${account}/${family}`))?.value ?? 0n,
          })),
        );
      },
    }),
    keptUsdc: t.field({
      type: "Usdc",
      description:
        "broughtUsdc minus all money that was returned, but at least 0. It is 0 for a family that is not independent. The agent's `keptUsdc` is the sum over its families.",
      resolve: ({ kept }) => formatUsdc(kept),
    }),
  }),
});

const BuyerFamilyConnection = builder.connectionObject(
  { type: BuyerFamilyRef, name: "BuyerFamilyConnection" },
  { name: "BuyerFamilyEdge" },
);

const UnreceiptedRef = builder.objectRef<Unreceipted>("UnreceiptedPayment").implement({
  description:
    "A payment by authorization to a seller with a live listing. No receipt for the payment was published in time.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "`<tx>-<log>`, the id that its hire would have." }),
    buyerAddress: t.field({ type: "Address", resolve: ({ buyer }) => buyer }),
    buyer: t.field(agentAt(({ buyer }) => buyer)),
    amountUsdc: t.field({ type: "Usdc", resolve: ({ value }) => formatUsdc(value) }),
    block: t.field({ type: "SafeInt", resolve: ({ block }) => block }),
    time: t.field({ type: "SafeInt", resolve: ({ time }) => time }),
  }),
});

const UnreceiptedConnection = builder.connectionObject(
  { type: UnreceiptedRef, name: "UnreceiptedPaymentConnection" },
  { name: "UnreceiptedPaymentEdge" },
);

const IndependenceRef = builder.objectRef<Agent>("Independence").implement({
  description:
    "The facts behind an agent's figures as a seller: who paid, what came back, and what was left out (docs/independence.md). The figures can be computed again from them.",
  fields: (t) => ({
    buyerFamilies: t.connection(
      {
        type: BuyerFamilyRef,
        description:
          "The families that bought in the window, sorted by their ids. The agent's own family and `deep` are listed too.",
        args: { orderDirection: t.arg({ type: OrderDirection }) },
        resolve: ({ row }, args, context) => listPage(args, context, buyerFamilies(row.id)),
      },
      BuyerFamilyConnection,
    ),
    directHires: t.int({
      description:
        "The number of hires paid directly, all of which have a receipt. `receiptCoverage` is this number / (this number + unreceipted payments). `explain(field: RECEIPT_COVERAGE)` lists the hires.",
      resolve: ({ row }) => row.windowDirect,
    }),
    unreceipted: t.connection(
      {
        type: UnreceiptedRef,
        description: "The payments in the window that have no receipt, the latest first.",
        args: { orderDirection: t.arg({ type: OrderDirection }) },
        resolve: ({ row }, args, context) => listPage(args, context, unreceiptedPayments(row.id)),
      },
      UnreceiptedConnection,
    ),
    unansweredEscrows: t.connection(
      {
        type: EscrowRef,
        description:
          "The deposits that went back to their buyers without any act of the seller (no delivery, no receipt, no refund), the latest first.",
        args: { orderDirection: t.arg({ type: OrderDirection }) },
        resolve: ({ row }, args, context) => listPage(args, context, unansweredEscrows(row.id)),
      },
      EscrowConnection,
    ),
  }),
});

builder.objectField(AgentRef, "independence", (t) =>
  t.field({
    type: IndependenceRef,
    nullable: true,
    description:
      "The facts behind its reputation. Null if its metrics are private: then only their buckets are published.",
    resolve: (agent) => (agent.row.privateListings > 0 ? null : agent),
  }),
);
