import type { Row } from "tallystick-derive/tables";
import {
  feedbackOf,
  linksOfIdentity,
  linksOfWallet,
  registriesRead,
  responsesTo,
} from "../rows/identities.ts";
import { AgentRef, agentAt } from "./agent.ts";
import { builder, OrderDirection } from "./builder.ts";
import { HireRef } from "./hire.ts";
import { listPage } from "./list.ts";
import { MetaRef } from "./meta.ts";
import { NodeRef, registerNode } from "./node.ts";

type Identity = Row<"identity">;
type Link = Row<"identityLink">;
type Feedback = Row<"feedback">;

/** Descriptions for a stranger's text. A node keeps up to 256 bytes, and the length and hash of the whole text. */
const CUT = "At most 256 bytes. Control characters and bytes that are not UTF-8 are shown as U+FFFD.";
const BYTES = "Its length in bytes.";
const HASH = "The keccak-256 of its bytes, if not all of them are shown unchanged; else null.";

const Standing = builder.enumType("FeedbackStanding", {
  values: {
    BACKED: {
      value: "backed",
      description:
        "Its client hired the agent that it is about, and the hire is counted. The hire backs no other feedback.",
    },
    SELF: { value: "self", description: "It comes from the identity's own side." },
    UNPROVEN: { value: "unproven", description: "Nothing shows that its client ever paid." },
  } as const,
});

const SelfReason = builder.enumType("FeedbackSelfReason", {
  description:
    "Why a feedback comes from the identity's own side. CLUSTER, BUYERS and FAMILY are as of the position at which this was decided.",
  values: {
    AGENT: { value: "agent", description: "Its client was the agent: the identity's wallet." },
    OWNER: { value: "owner", description: "Its client owned the identity." },
    FORMER: { value: "former", description: "Its client had been the identity's wallet or owner before." },
    CLUSTER: { value: "cluster", description: "Its client was in one cluster with the agent." },
    BUYERS: { value: "buyers", description: "Its client and the agent counted as one buyer." },
    FAMILY: { value: "family", description: "Its client was in the agent's funding family." },
  } as const,
});

const RegistryStatus = builder.enumType("RegistryStatus", {
  values: {
    WAITING: { value: "waiting", description: "No known implementation was seen yet." },
    READ: { value: "read", description: "Its events are read." },
    UNREAD: {
      value: "unread",
      description:
        "It was upgraded to an unknown implementation. From this block on neither registry is read, and all answers about identities show the state before it.",
    },
  } as const,
});

const RegistryRef = builder.objectRef<Row<"registry">>("Registry").implement({
  description: "A registry of ERC-8004 that this node reads.",
  fields: (t) => ({
    role: t.exposeString("id", { description: "identity or reputation." }),
    address: t.field({ type: "Address", resolve: ({ address }) => address }),
    implementation: t.field({
      type: "Address",
      nullable: true,
      description: "The implementation behind its proxy; null before the first known upgrade.",
      resolve: ({ implementation }) => implementation,
    }),
    status: t.field({ type: RegistryStatus, resolve: ({ status }) => status as "read" }),
    block: t.field({
      type: "SafeInt",
      nullable: true,
      description: "The block since which it has this status; null while no implementation was seen.",
      resolve: ({ block }) => block,
    }),
  }),
});

builder.objectField(MetaRef, "registries", (t) =>
  t.field({
    type: [RegistryRef],
    description: "The registries of ERC-8004 that this node reads; an empty list if it reads none.",
    resolve: (_, __, { db }) => registriesRead(db),
  }),
);

const ResponseRef = builder.objectRef<Row<"feedbackResponse">>("FeedbackResponse").implement({
  description: "A response to a feedback. Anybody may respond.",
  fields: (t) => ({
    responder: t.field({ type: "Address", resolve: (it) => it.responder }),
    uri: t.exposeString("uri", { description: CUT }),
    uriBytes: t.exposeInt("uriBytes", { description: BYTES }),
    uriHash: t.exposeString("uriHash", { nullable: true, description: HASH }),
    fileHash: t.exposeString("fileHash", { description: "The hash of the file, as the responder gives it." }),
    block: t.field({ type: "SafeInt", resolve: (it) => it.block }),
    time: t.field({ type: "SafeInt", resolve: (it) => it.time }),
    tx: t.exposeString("tx"),
  }),
});

const ResponseConnection = builder.connectionObject(
  { type: ResponseRef, name: "FeedbackResponseConnection" },
  { name: "FeedbackResponseEdge" },
);

const BackingRef = builder.objectRef<Feedback>("FeedbackBacking").implement({
  description: "The evidence for a feedback.",
  fields: (t) => ({
    standing: t.field({ type: Standing, resolve: (it) => it.standing as "backed" }),
    selfReason: t.field({
      type: SelfReason,
      nullable: true,
      resolve: (it) => it.selfReason as "agent" | null,
    }),
    hire: t.field({
      type: HireRef,
      nullable: true,
      description: "The hire that backs it. A hire backs only one feedback.",
      resolve: ({ hire }, _, { load }) => (hire === null ? null : load.hire.load(hire)),
    }),
  }),
});

export const IdentityRef = builder.objectRef<Identity>("Identity").implement({
  interfaces: [NodeRef],
  description:
    "An identity of ERC-8004's registry: a token that can be sold. Its agent wallet agreed to represent it, and does so until the identity is sold. Identities are advice: no figure, tier or score depends on them or on their feedback.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The `agentId` in the registry, as a decimal number." }),
    owner: t.field({ type: "Address", resolve: ({ owner }) => owner }),
    wallet: t.field({
      type: "Address",
      nullable: true,
      description: "Its agent wallet; null when it has none now.",
      resolve: ({ wallet }) => wallet,
    }),
    agent: t.field({
      ...agentAt<Identity>(({ wallet }) => wallet ?? ""),
      description: "The agent with the identity's wallet.",
    }),
    uri: t.exposeString("uri", { description: `The address of its registration file. ${CUT}` }),
    uriBytes: t.exposeInt("uriBytes", { description: BYTES }),
    uriHash: t.exposeString("uriHash", { nullable: true, description: HASH }),
    registeredBlock: t.field({ type: "SafeInt", resolve: (it) => it.registeredBlock }),
    registeredTime: t.field({ type: "SafeInt", resolve: (it) => it.registeredTime }),
    registeredTx: t.exposeString("registeredTx"),
    transfers: t.exposeInt("transfers", { description: "How often its owner changed." }),
  }),
});

const FeedbackRef = builder.objectRef<Feedback>("IdentityFeedback").implement({
  interfaces: [NodeRef],
  description:
    "Feedback for an identity: a number with tags, and the address of a file. The numbers are not averaged here.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "`<identity>/<client>/<index>`." }),
    identity: t.field({
      type: IdentityRef,
      nullable: true,
      resolve: ({ identity }, _, { load }) => load.identity.load(identity),
    }),
    client: t.field({
      type: "Address",
      description: "The account that gave the feedback.",
      resolve: (it) => it.client,
    }),
    agentAddress: t.field({
      type: "Address",
      nullable: true,
      description:
        "The identity's wallet when the feedback was given: the agent that it is about. Null when there was none.",
      resolve: ({ agent }) => agent,
    }),
    backing: t.field({ type: BackingRef, resolve: (it) => it }),
    value: t.field({
      type: "BigInt",
      description: "The number, with `valueDecimals` digits after the decimal point.",
      resolve: ({ value }) => value,
    }),
    valueDecimals: t.exposeInt("valueDecimals"),
    tag1: t.exposeString("tag1", { description: CUT }),
    tag2: t.exposeString("tag2", { description: CUT }),
    endpoint: t.exposeString("endpoint", { description: CUT }),
    uri: t.exposeString("uri", { description: CUT }),
    uriBytes: t.exposeInt("uriBytes", { description: BYTES }),
    uriHash: t.exposeString("uriHash", { nullable: true, description: HASH }),
    fileHash: t.exposeString("fileHash", {
      description: "The hash of the file at `uri`, as the client gives it.",
    }),
    isRevoked: t.exposeBoolean("isRevoked"),
    block: t.field({ type: "SafeInt", resolve: (it) => it.block }),
    time: t.field({ type: "SafeInt", resolve: (it) => it.time }),
    tx: t.exposeString("tx"),
    responses: t.connection(
      {
        type: ResponseRef,
        description: "The responses, the oldest first.",
        args: { orderDirection: t.arg({ type: OrderDirection }) },
        resolve: ({ id }, args, context) => listPage(args, context, responsesTo(id)),
      },
      ResponseConnection,
    ),
  }),
});

const FeedbackConnection = builder.connectionObject(
  { type: FeedbackRef, name: "IdentityFeedbackConnection" },
  { name: "IdentityFeedbackEdge" },
);

const CountsRef = builder.objectRef<Link>("FeedbackCounts").implement({
  description: "A revoked feedback counts only in `given` and `revoked`.",
  fields: (t) => ({
    given: t.int({ resolve: ({ feedback }) => feedback }),
    backed: t.exposeInt("backed"),
    self: t.exposeInt("self"),
    unproven: t.int({
      resolve: ({ feedback, backed, self, revoked }) => feedback - backed - self - revoked,
    }),
    revoked: t.exposeInt("revoked"),
  }),
});

const LinkRef = builder.objectRef<Link>("IdentityLink").implement({
  interfaces: [NodeRef],
  description: "A time in which an identity had one wallet, and the feedback of that time.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "`<identity>/<n>`." }),
    identity: t.field({
      type: IdentityRef,
      nullable: true,
      resolve: ({ identity }, _, { load }) => load.identity.load(identity),
    }),
    agentAddress: t.field({ type: "Address", resolve: ({ wallet }) => wallet }),
    agent: t.field(agentAt<Link>(({ wallet }) => wallet)),
    isCurrent: t.boolean({ resolve: ({ untilBlock }) => untilBlock === null }),
    fromBlock: t.field({ type: "SafeInt", resolve: (it) => it.fromBlock }),
    fromTime: t.field({ type: "SafeInt", resolve: (it) => it.fromTime }),
    untilBlock: t.field({ type: "SafeInt", nullable: true, resolve: (it) => it.untilBlock }),
    untilTime: t.field({ type: "SafeInt", nullable: true, resolve: (it) => it.untilTime }),
    counts: t.field({
      type: CountsRef,
      nullable: true,
      description: "The feedback of that time in numbers; null when the agent has private metrics.",
      resolve: async (link, _, { load }) =>
        ((await load.agent.load(link.wallet))?.privateListings ?? 0) > 0 ? null : link,
    }),
    feedback: t.connection(
      {
        type: FeedbackRef,
        description: "The feedback of that time, the latest first.",
        args: {
          orderDirection: t.arg({ type: OrderDirection }),
          standing: t.arg({
            type: Standing,
            description: "Only feedback with this standing that is not revoked.",
          }),
        },
        resolve: ({ id }, { standing, ...args }, context) =>
          listPage(args, context, feedbackOf({ link: id }, standing)),
      },
      FeedbackConnection,
    ),
  }),
});

const LinkConnection = builder.connectionObject(
  { type: LinkRef, name: "IdentityLinkConnection" },
  { name: "IdentityLinkEdge" },
);

builder.objectFields(IdentityRef, (t) => ({
  links: t.connection(
    {
      type: LinkRef,
      description: "Its wallets, the latest first.",
      args: { orderDirection: t.arg({ type: OrderDirection }) },
      resolve: ({ id }, args, context) => listPage(args, context, linksOfIdentity(id)),
    },
    LinkConnection,
  ),
  feedback: t.connection(
    {
      type: FeedbackRef,
      description: "All feedback for it, whichever wallet it had, the latest first.",
      args: {
        orderDirection: t.arg({ type: OrderDirection }),
        standing: t.arg({
          type: Standing,
          description: "Only feedback with this standing that is not revoked.",
        }),
      },
      resolve: ({ id }, { standing, ...args }, context) =>
        listPage(args, context, feedbackOf({ identity: id }, standing)),
    },
    FeedbackConnection,
  ),
}));

builder.objectField(AgentRef, "identities", (t) =>
  t.connection(
    {
      type: LinkRef,
      description:
        "The identities of ERC-8004 that it has or had, the latest first, each with the time in which it was the identity's agent wallet.",
      args: {
        orderDirection: t.arg({ type: OrderDirection }),
        current: t.arg.boolean({ defaultValue: false, description: "Only the identities that it has now." }),
      },
      resolve: ({ row }, { current, ...args }, context) =>
        listPage(args, context, linksOfWallet(row.id, current === true ? "current" : "all")),
    },
    LinkConnection,
  ),
);

const IDENTITY = /^(?:0|[1-9][0-9]{0,77})$/;

builder.queryField("identity", (t) =>
  t.field({
    type: IdentityRef,
    nullable: true,
    description: "The identity with an `agentId`; null if there is none, or no registry is read.",
    args: { id: t.arg.id({ required: true }) },
    resolve: (_, { id }, { load }) => (IDENTITY.test(id) ? load.identity.load(id) : null),
  }),
);

registerNode("Identity", { form: IDENTITY, find: (id, { load }) => load.identity.load(id) });
registerNode("IdentityLink", {
  form: /^[0-9]{1,78}\/[0-9]{1,15}$/,
  find: (id, { load }) => load.identityLink.load(id),
});
registerNode("IdentityFeedback", {
  form: /^[0-9]{1,78}\/0x[0-9a-f]{40}\/[0-9]{1,20}$/,
  find: (id, { load }) => load.feedback.load(id),
});
