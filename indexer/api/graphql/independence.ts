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
    "What came back to a family of buyers from one account, in transfers of at least `minFundingAtomic`.",
  fields: (t) => ({
    account: t.field({
      type: "Address",
      description:
        "The family of the seller, or of a payee of it, by its founder; a wallet whose family is `deep` stands for itself.",
      resolve: ({ account }) => account,
    }),
    amountUsdc: t.field({ type: "Usdc", resolve: ({ value }) => formatUsdc(value) }),
  }),
});

const BuyerFamilyRef = builder.objectRef<BuyerFamilyRow>("BuyerFamily").implement({
  description: "What a family bought of a seller in the window, and what it adds to the seller's figures.",
  fields: (t) => ({
    family: t.field({ type: FamilyRef, resolve: ({ family }) => ({ id: family }) }),
    isIndependent: t.exposeBoolean("isIndependent", {
      description: "One of `independentBuyers`: neither the seller's own family nor `deep`.",
    }),
    isEstablished: t.exposeBoolean("isEstablished", { description: "One of `establishedBuyers` too." }),
    hires: t.exposeInt("hires"),
    ratedHires: t.int({ resolve: ({ rated }) => rated }),
    successes: t.exposeInt("successes"),
    successShare: t.float({
      nullable: true,
      description:
        "successes / ratedHires, rounded half up at 9 decimals: `independentSuccessRate` is the mean of these. Null without a vote.",
      resolve: ({ share }) => (share === null ? null : share / NANO),
    }),
    contestedRefunds: t.int({
      description: "Hires that it took its money back of after delivery was marked.",
      resolve: ({ contested }) => contested,
    }),
    paidUsdc: t.field({
      type: "Usdc",
      description:
        "What it paid that may have stayed: not what went to its own family, to a payee that never acted or to a ninth family of payees.",
      resolve: ({ paid }) => formatUsdc(paid),
    }),
    broughtUsdc: t.field({
      type: "Usdc",
      description:
        "What of paidUsdc the family had brought from outside: from hubs, senders by count, or mints. Each unit pays for one hire only, so money that goes round adds nothing.",
      resolve: ({ brought }) => formatUsdc(brought),
    }),
    returned: t.field({
      type: [ReturnedRef],
      description:
        "What came back, from each account that counts. What came after the last tick is taken off at the next.",
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
        "broughtUsdc less all that was returned, at least 0; 0 of a family that is not independent. `keptUsdc` of the agent is the sum.",
      resolve: ({ kept }) => formatUsdc(kept),
    }),
  }),
});

const BuyerFamilyConnection = builder.connectionObject(
  { type: BuyerFamilyRef, name: "BuyerFamilyConnection" },
  { name: "BuyerFamilyEdge" },
);

const UnreceiptedRef = builder.objectRef<Unreceipted>("UnreceiptedPayment").implement({
  description: "An authorized payment to a seller with a live listing that no receipt claimed in time.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "`<tx>-<log>`, as its hire would be called." }),
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
    "What an agent's figures as a seller rest on: who paid, what came back, and what was left out (docs/independence.md). " +
    "They can be worked out again from this.",
  fields: (t) => ({
    buyerFamilies: t.connection(
      {
        type: BuyerFamilyRef,
        description: "The families that bought in the window, by their ids; the agent's own and `deep` too.",
        args: { orderDirection: t.arg({ type: OrderDirection }) },
        resolve: ({ row }, args, context) => listPage(args, context, buyerFamilies(row.id)),
      },
      BuyerFamilyConnection,
    ),
    directHires: t.int({
      description:
        "Hires paid directly, all of which have a receipt: `receiptCoverage` is this / (this + unreceipted payments). " +
        "`explain(field: RECEIPT_COVERAGE)` lists them.",
      resolve: ({ row }) => row.windowDirect,
    }),
    unreceipted: t.connection(
      {
        type: UnreceiptedRef,
        description: "The payments of the window without a receipt, the latest first.",
        args: { orderDirection: t.arg({ type: OrderDirection }) },
        resolve: ({ row }, args, context) => listPage(args, context, unreceiptedPayments(row.id)),
      },
      UnreceiptedConnection,
    ),
    unansweredEscrows: t.connection(
      {
        type: EscrowRef,
        description: "The deposits that went back without an act of its own, the latest first.",
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
    description: "What its reputation rests on; null with private metrics, whose buckets are all there is.",
    resolve: (agent) => (agent.row.privateListings > 0 ? null : agent),
  }),
);
