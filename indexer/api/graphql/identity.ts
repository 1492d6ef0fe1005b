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

/** A text that is kept up to 256 bytes, and what is known of the rest. */
const CUT = "Up to 256 bytes; what is no UTF-8 in it, and control characters, are U+FFFD.";
const BYTES = "How many bytes it has.";
const HASH = "The keccak-256 of its bytes, where they are not all shown as they are; else null.";

const Standing = builder.enumType("FeedbackStanding", {
  values: {
    BACKED: {
      value: "backed",
      description: "A counted hire of its client by that agent stands behind it, and behind no other.",
    },
    SELF: { value: "self", description: "It comes from the identity's own side." },
    UNPROVEN: { value: "unproven", description: "Neither: nothing shows that its client ever paid." },
  } as const,
});

const SelfReason = builder.enumType("FeedbackSelfReason", {
  description: "Why a feedback is its identity's own. The last three are as of where that was decided.",
  values: {
    AGENT: { value: "agent", description: "Its client was the identity's wallet." },
    OWNER: { value: "owner", description: "It owned the identity." },
    FORMER: { value: "former", description: "It had been its wallet, or its owner, before." },
    CLUSTER: { value: "cluster", description: "It was in one cluster with the agent." },
    BUYERS: { value: "buyers", description: "It counted as one buyer with the agent." },
    FAMILY: { value: "family", description: "Its money began with the same wallet as the agent's." },
  } as const,
});

const RegistryStatus = builder.enumType("RegistryStatus", {
  values: {
    WAITING: { value: "waiting", description: "No implementation that is understood was seen yet." },
    READ: { value: "read", description: "Its events are read." },
    UNREAD: {
      value: "unread",
      description:
        "It was upgraded to an implementation that is not listed: from there on neither registry is read, and what is told of identities is as of there.",
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
      description: "What its proxy runs; null before the first upgrade that was seen.",
      resolve: ({ implementation }) => implementation,
    }),
    status: t.field({ type: RegistryStatus, resolve: ({ status }) => status as "read" }),
    block: t.field({
      type: "SafeInt",
      nullable: true,
      description: "Since when it has that status; null while it is waited for.",
      resolve: ({ block }) => block,
    }),
  }),
});

builder.objectField(MetaRef, "registries", (t) =>
  t.field({
    type: [RegistryRef],
    description: "The registries of ERC-8004 that this node reads; none when it reads none.",
    resolve: (_, __, { db }) => registriesRead(db),
  }),
);

const ResponseRef = builder.objectRef<Row<"feedbackResponse">>("FeedbackResponse").implement({
  description: "What somebody answered to a feedback. Anybody may.",
  fields: (t) => ({
    responder: t.field({ type: "Address", resolve: (it) => it.responder }),
    uri: t.exposeString("uri", { description: CUT }),
    uriBytes: t.exposeInt("uriBytes", { description: BYTES }),
    uriHash: t.exposeString("uriHash", { nullable: true, description: HASH }),
    fileHash: t.exposeString("fileHash", { description: "As the responder says." }),
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
  description: "What stands behind a feedback.",
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
      description: "The hire that backs it; it backs no other.",
      resolve: ({ hire }, _, { load }) => (hire === null ? null : load.hire.load(hire)),
    }),
  }),
});

export const IdentityRef = builder.objectRef<Identity>("Identity").implement({
  interfaces: [NodeRef],
  description:
    "An identity of ERC-8004's registry. It is a token that can be sold: who stands for it is its agent wallet, which agreed to that, and " +
    "only until it is sold. Advice: no figure, tier or score depends on identities or on what is said of them.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The `agentId` in the registry, decimal." }),
    owner: t.field({ type: "Address", resolve: ({ owner }) => owner }),
    wallet: t.field({
      type: "Address",
      nullable: true,
      description: "Its agent wallet; null where it has none now.",
      resolve: ({ wallet }) => wallet,
    }),
    agent: t.field({
      ...agentAt<Identity>(({ wallet }) => wallet ?? ""),
      description: "The agent that its wallet is.",
    }),
    uri: t.exposeString("uri", { description: `Where its registration file is. ${CUT}` }),
    uriBytes: t.exposeInt("uriBytes", { description: BYTES }),
    uriHash: t.exposeString("uriHash", { nullable: true, description: HASH }),
    registeredBlock: t.field({ type: "SafeInt", resolve: (it) => it.registeredBlock }),
    registeredTime: t.field({ type: "SafeInt", resolve: (it) => it.registeredTime }),
    registeredTx: t.exposeString("registeredTx"),
    transfers: t.exposeInt("transfers", { description: "How often it went to another owner." }),
  }),
});

const FeedbackRef = builder.objectRef<Feedback>("IdentityFeedback").implement({
  interfaces: [NodeRef],
  description:
    "What somebody said of an identity: a number by its tags, which nobody averages here, and where there is more to read.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "`<identity>/<client>/<index>`." }),
    identity: t.field({
      type: IdentityRef,
      nullable: true,
      resolve: ({ identity }, _, { load }) => load.identity.load(identity),
    }),
    client: t.field({ type: "Address", description: "Who said it.", resolve: (it) => it.client }),
    agentAddress: t.field({
      type: "Address",
      nullable: true,
      description:
        "The wallet that stood for the identity there: whom it is about. Null where there was none.",
      resolve: ({ agent }) => agent,
    }),
    backing: t.field({ type: BackingRef, resolve: (it) => it }),
    value: t.field({
      type: "BigInt",
      description: "With `valueDecimals` digits behind the point.",
      resolve: ({ value }) => value,
    }),
    valueDecimals: t.exposeInt("valueDecimals"),
    tag1: t.exposeString("tag1", { description: CUT }),
    tag2: t.exposeString("tag2", { description: CUT }),
    endpoint: t.exposeString("endpoint", { description: CUT }),
    uri: t.exposeString("uri", { description: CUT }),
    uriBytes: t.exposeInt("uriBytes", { description: BYTES }),
    uriHash: t.exposeString("uriHash", { nullable: true, description: HASH }),
    fileHash: t.exposeString("fileHash", { description: "Of the file at `uri`, as the client says." }),
    isRevoked: t.exposeBoolean("isRevoked"),
    block: t.field({ type: "SafeInt", resolve: (it) => it.block }),
    time: t.field({ type: "SafeInt", resolve: (it) => it.time }),
    tx: t.exposeString("tx"),
    responses: t.connection(
      {
        type: ResponseRef,
        description: "What was answered, the first first.",
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
  description: "Of a feedback that is revoked only `given` and `revoked` tell.",
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
  description:
    "From where to where a wallet stood for an identity, and what was said of the identity meanwhile.",
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
      description: "How much was said meanwhile; null when the agent has private metrics.",
      resolve: async (link, _, { load }) =>
        ((await load.agent.load(link.wallet))?.privateListings ?? 0) > 0 ? null : link,
    }),
    feedback: t.connection(
      {
        type: FeedbackRef,
        description: "What was said meanwhile, the latest first.",
        args: {
          orderDirection: t.arg({ type: OrderDirection }),
          standing: t.arg({ type: Standing, description: "Only these, and of them none that is revoked." }),
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
      description: "Who stood for it, the latest first.",
      args: { orderDirection: t.arg({ type: OrderDirection }) },
      resolve: ({ id }, args, context) => listPage(args, context, linksOfIdentity(id)),
    },
    LinkConnection,
  ),
  feedback: t.connection(
    {
      type: FeedbackRef,
      description: "All that was said of it, whoever stood for it, the latest first.",
      args: {
        orderDirection: t.arg({ type: OrderDirection }),
        standing: t.arg({ type: Standing, description: "Only these, and of them none that is revoked." }),
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
        "The identities of ERC-8004 that it stands for, or did, the latest first: each while it was the identity's agent wallet.",
      args: {
        orderDirection: t.arg({ type: OrderDirection }),
        current: t.arg.boolean({ defaultValue: false, description: "Only those that it stands for now." }),
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
    description: "The identity with an `agentId`; null where none was registered, or no registry is read.",
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
