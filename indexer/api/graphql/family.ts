import { DEEP } from "tallystick-derive/families/familyOf";
import type { Row } from "tallystick-derive/tables";
import { formatUsdc } from "tallystick-protocol/amount";
import { familyMembers } from "../rows/families.ts";
import type { TransferAt } from "../rows/transferValues.ts";
import { AgentRef, agentAt } from "./agent.ts";
import { builder, OrderDirection } from "./builder.ts";
import type { QueryContext } from "./context.ts";
import { listPage } from "./list.ts";

type Member = Row<"familyMember"> | Row<"registeredMember">;

/** Only the id of a family, because a family that never bought has no row. */
export type Family = { id: string };

const MemberReason = builder.enumType("FamilyReason", {
  description:
    "Why a wallet belongs to its family. The largest sum that reached it before it first spent decides.",
  values: {
    TRANSFER: {
      value: "plain",
      description: "The sum came from a wallet, and this is the family of that wallet.",
    },
    PAYOUT: {
      value: "payout",
      description: "An escrow paid the sum out, so the family is that of the escrow's buyer.",
    },
    NOTHING: {
      value: "none",
      description: "Nothing had reached the wallet, so it founds a family of its own.",
    },
    HUB: {
      value: "hub",
      description: "The sum came from a published hub, so the wallet founds a family of its own.",
    },
    BUSY: {
      value: "busy",
      description:
        "The sum came from a wallet that had sent `hubTransfers` transfers, so the wallet founds a family of its own.",
    },
    MINTED: {
      value: "mint",
      description: "The sum came from the zero address, so the wallet founds a family of its own.",
    },
  } as const,
});

const MemberRef = builder.objectRef<Member>("FamilyMember").implement({
  description:
    "A wallet as a member of its family. The wallet's first transfer of value to another wallet fixes the family. If an agent was registered before this transfer, its registration fixes its family as a seller.",
  fields: (t) => ({
    address: t.field({ type: "Address", resolve: ({ id }) => id }),
    agent: t.field(agentAt(({ id }) => id)),
    family: t.field({ type: FamilyRef, resolve: ({ family }) => ({ id: family }) }),
    steps: t.int({
      nullable: true,
      description: "The number of steps to the founder, who has 0. Null if there are more than 16.",
      resolve: ({ family, depth }) => (family === DEEP ? null : depth),
    }),
    reason: t.field({ type: MemberReason, resolve: ({ how }) => how as "plain" }),
    payer: t.field({
      type: "Address",
      nullable: true,
      description:
        "The wallet with whose money it began: the next wallet on the way to the founder. Null for a founder.",
      resolve: ({ parent }) => parent,
    }),
    sender: t.field({
      type: "Address",
      nullable: true,
      description:
        "The sender of that money; for a payout, the escrow's contract. Null if the node does not keep that transfer.",
      resolve: async (it, _, context) => (await inflowOf(it, context))?.from ?? null,
    }),
    amountUsdc: t.field({
      type: "Usdc",
      nullable: true,
      description: "The amount of that money. Null if nothing had reached the wallet.",
      resolve: ({ value }) => (value === null ? null : formatUsdc(value)),
    }),
    tx: t.string({
      nullable: true,
      resolve: async (it, _, context) => (await inflowOf(it, context))?.tx ?? null,
    }),
    block: t.field({ type: "SafeInt", nullable: true, resolve: ({ block }) => block }),
    log: t.field({ type: "SafeInt", nullable: true, resolve: ({ log }) => log }),
    actedBlock: t.field({
      type: "SafeInt",
      description:
        "The block where it first spent, or where it was registered if that came first. Money that reached it later does not change its family.",
      resolve: ({ actedBlock }) => actedBlock,
    }),
    actedLog: t.field({ type: "SafeInt", resolve: ({ actedLog }) => actedLog }),
    actedTime: t.field({ type: "SafeInt", resolve: ({ actedTime }) => actedTime }),
  }),
});

/** The family of a wallet as a payer; for a wallet that never paid, its family as a seller. */
async function memberOf(id: string, { load }: Pick<QueryContext, "load">): Promise<Member | null> {
  return (await load.familyMember.load(id)) ?? load.registeredMember.load(id);
}

/** The inflow that decides a wallet's family: the largest one before the wallet first spent, or was registered. */
async function inflowOf({ block, log }: Member, { load }: QueryContext): Promise<TransferAt | null> {
  return block === null || log === null ? null : load.transfer.load({ block, log });
}

const MemberConnection = builder.connectionObject(
  { type: MemberRef, name: "FamilyMemberConnection" },
  { name: "FamilyMemberEdge" },
);

export const FamilyRef = builder.objectRef<Family>("Family");

FamilyRef.implement({
  description:
    "Wallets whose money began with the same wallet (specification.md section 13). A common source of money does not prove a common owner.",
  fields: (t) => ({
    id: t.exposeID("id", {
      description:
        "The founder's address, or `deep` for all wallets whose founder is more than 16 steps away.",
    }),
    founder: t.field({
      type: MemberRef,
      nullable: true,
      description: "Null for `deep`.",
      resolve: ({ id }, _, context) => (id === DEEP ? null : memberOf(id, context)),
    }),
    isEstablished: t.boolean({
      description:
        "Whether its founder first spent at least 30 days before the last tick, and its members buy from at least three other families.",
      resolve: async ({ id }, _, { load }) => (await load.family.load(id))?.established ?? false,
    }),
    sellerFamilies: t.int({
      description:
        "The number of families, other than itself and `deep`, from which its members bought in the window.",
      resolve: async ({ id }, _, { load }) => (await load.family.load(id))?.sellers ?? 0,
    }),
    members: t.connection(
      {
        type: MemberRef,
        description:
          "The members in the order in which they first spent. Only wallets that a figure needs are listed: buyers, sellers, payees, the senders of their money, and all wallets between these and the founder.",
        args: { orderDirection: t.arg({ type: OrderDirection }) },
        resolve: ({ id }, args, context) => listPage(args, context, familyMembers(id)),
      },
      MemberConnection,
    ),
  }),
});

builder.objectField(AgentRef, "familyMember", (t) =>
  t.field({
    type: MemberRef,
    nullable: true,
    description:
      "The agent in its family as a seller or auditor. Null as long as no figure needs it. As a buyer it may count for another family: see `family`.",
    resolve: async ({ row }, _, { load }) =>
      (await load.registeredMember.load(row.id)) ?? load.familyMember.load(row.id),
  }),
);

builder.queryField("family", (t) =>
  t.field({
    type: FamilyRef,
    nullable: true,
    description:
      "A family, found by the address of its founder or of any other member, or by `deep`. Null if no figure ever needed it.",
    args: { id: t.arg.id({ required: true }) },
    resolve: async (_, { id }, { load }): Promise<Family | null> => {
      if (id === DEEP) return { id };
      const member = await memberOf(id.toLowerCase(), { load });
      return member === null ? null : { id: member.family };
    },
  }),
);
