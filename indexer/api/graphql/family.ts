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
  description: "Why a wallet is in its family: by the largest sum that reached it before it first spent.",
  values: {
    TRANSFER: { value: "plain", description: "It came from a wallet, whose family this is." },
    PAYOUT: { value: "payout", description: "An escrow paid it out: the family is that of its buyer." },
    NOTHING: { value: "none", description: "Nothing had reached it: it founds its own." },
    HUB: { value: "hub", description: "It came from a published hub: it founds its own." },
    BUSY: {
      value: "busy",
      description: "It came from a wallet that had sent `hubTransfers` transfers: it founds its own.",
    },
    MINTED: { value: "mint", description: "It came from the zero address: it founds its own." },
  } as const,
});

const MemberRef = builder.objectRef<Member>("FamilyMember").implement({
  description:
    "A wallet in its family, fixed when it first spent: its first transfer of value. As a seller or auditor that was registered " +
    "before, an agent's own family is fixed by its registration.",
  fields: (t) => ({
    address: t.field({ type: "Address", resolve: ({ id }) => id }),
    agent: t.field(agentAt(({ id }) => id)),
    family: t.field({ type: FamilyRef, resolve: ({ family }) => ({ id: family }) }),
    steps: t.int({
      nullable: true,
      description: "To the founder, who has 0; null where it is more than 16 away.",
      resolve: ({ family, depth }) => (family === DEEP ? null : depth),
    }),
    reason: t.field({ type: MemberReason, resolve: ({ how }) => how as "plain" }),
    payer: t.field({
      type: "Address",
      nullable: true,
      description: "Whose money it began with: the next wallet on the way to the founder. Null of a founder.",
      resolve: ({ parent }) => parent,
    }),
    sender: t.field({
      type: "Address",
      nullable: true,
      description:
        "Who sent it, of a payout the escrow's contract; null where the node keeps no such transfer.",
      resolve: async (it, _, context) => (await inflowOf(it, context))?.from ?? null,
    }),
    amountUsdc: t.field({
      type: "Usdc",
      nullable: true,
      description: "How much it was; null where nothing had reached it.",
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
        "Where it first spent, or, of an agent that was registered before, where that was: what reached it later moves nothing.",
      resolve: ({ actedBlock }) => actedBlock,
    }),
    actedLog: t.field({ type: "SafeInt", resolve: ({ actedLog }) => actedLog }),
    actedTime: t.field({ type: "SafeInt", resolve: ({ actedTime }) => actedTime }),
  }),
});

/** A wallet in the family that it pays for, or of one that never paid, its own. */
async function memberOf(id: string, { load }: Pick<QueryContext, "load">): Promise<Member | null> {
  return (await load.familyMember.load(id)) ?? load.registeredMember.load(id);
}

/** The largest inflow of a wallet before it spent, or was registered, which decides its family. */
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
    "Wallets whose money began with the same wallet (specification.md section 13). One source of money is not one owner.",
  fields: (t) => ({
    id: t.exposeID("id", {
      description: "Its founder's address; `deep` for all whose founder is more than 16 steps away.",
    }),
    founder: t.field({
      type: MemberRef,
      nullable: true,
      description: "Null of `deep`.",
      resolve: ({ id }, _, context) => (id === DEEP ? null : memberOf(id, context)),
    }),
    isEstablished: t.boolean({
      description:
        "Its founder first spent 30 days before the last tick, and it buys from three families of sellers.",
      resolve: async ({ id }, _, { load }) => (await load.family.load(id))?.established ?? false,
    }),
    sellerFamilies: t.int({
      description: "Of how many families other than itself and `deep` its members bought in the window.",
      resolve: async ({ id }, _, { load }) => (await load.family.load(id))?.sellers ?? 0,
    }),
    members: t.connection(
      {
        type: MemberRef,
        description:
          "In the order in which they first spent. Wallets are looked at when a figure needs them: buyers, sellers, payees, who sent " +
          "them money, and all before those.",
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
      "Its own family, as a seller or auditor; null while no figure needed to know it. As a buyer it may count for another one: see `family`.",
    resolve: async ({ row }, _, { load }) =>
      (await load.registeredMember.load(row.id)) ?? load.familyMember.load(row.id),
  }),
);

builder.queryField("family", (t) =>
  t.field({
    type: FamilyRef,
    nullable: true,
    description:
      "A family, by its founder's address or that of any other member; or `deep`. Null where no figure ever needed to know it.",
    args: { id: t.arg.id({ required: true }) },
    resolve: async (_, { id }, { load }): Promise<Family | null> => {
      if (id === DEEP) return { id };
      const member = await memberOf(id.toLowerCase(), { load });
      return member === null ? null : { id: member.family };
    },
  }),
);
