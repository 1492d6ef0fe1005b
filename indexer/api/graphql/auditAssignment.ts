import type { TickEvent } from "tallystick-derive/events";
import type { Row } from "tallystick-derive/tables";
import { formatUsdc } from "tallystick-protocol/amount";
import type { AuditReason } from "tallystick-protocol/records/auditReasons";
import { positionKey } from "../../src/positionKey.ts";
import { assignmentList } from "../rows/audits.ts";
import { AgentRef, agentAt } from "./agent.ts";
import { builder, OrderDirection } from "./builder.ts";
import type { QueryContext } from "./context.ts";
import { listPage } from "./list.ts";
import { NodeRef, registerNode } from "./node.ts";
import { paramsInForce } from "./paramsInForce.ts";
import { recordEvent } from "./recordEvent.ts";

type Assignment = Row<"auditAssignment">;

export const AuditVerdict = builder.enumType("AuditVerdict", {
  values: {
    PASS: { value: "pass" },
    FAIL: { value: "fail" },
    INCONCLUSIVE: {
      value: "inconclusive",
      description: "Its auditor could not judge it. Another auditor is assigned.",
    },
  } as const,
});

const AuditorType = builder.enumType("AuditorType", {
  values: {
    AUDITOR: { value: "auditor", description: "Drawn from the roster by a block's hash." },
    OPERATOR_ISSUED: {
      value: "operator-issued",
      description: "The operator's own judge, used while nobody is on the roster (SHP §8.3.4.2).",
    },
  } as const,
});

export const AuditReasonRef = builder.objectRef<AuditReason>("AuditReason").implement({
  description: "A reason of a verdict or decision: a code of the published list, and the author's own words.",
  fields: (t) => ({ code: t.exposeString("code"), detail: t.exposeString("detail") }),
});

const AgentClustersRef = builder
  .objectRef<{ address: string; clusters: string[]; family: string | null }>("AgentClusters")
  .implement({
    fields: (t) => ({
      address: t.field({ type: "Address", resolve: ({ address }) => address }),
      clusters: t.exposeStringList("clusters", { description: "The ids of its clusters at that time." }),
      family: t.exposeID("family", {
        nullable: true,
        description: "Its family, for `family(id)`; null when no rule asked for it.",
      }),
    }),
  });

/** The hash of a tick's block; null for ticks from before the hashes were logged. */
export async function tickHash(block: number, { load }: QueryContext): Promise<string | null> {
  const json = await load.event.load(positionKey({ kind: "tick", block, time: 0 }));
  return json === null ? null : ((JSON.parse(json) as TickEvent).hash ?? null);
}

export const AuditAssignmentRef = builder.objectRef<Assignment>("AuditAssignment").implement({
  interfaces: [NodeRef],
  description: "An auditor that the hash of a block assigned to a hire, and its verdict.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "`<auditedHire>/<round>/<attempt>`." }),
    auditedHire: t.exposeID("hire", { description: "The id of the hire in records of audits." }),
    round: t.exposeInt("round"),
    attempt: t.exposeInt("attempt"),
    operator: t.field({ type: "Address", resolve: ({ operator }) => operator }),
    auditorAddress: t.field({ type: "Address", resolve: ({ auditor }) => auditor }),
    auditor: t.field(agentAt(({ auditor }) => auditor)),
    auditorType: t.field({ type: AuditorType, resolve: (it) => it.auditorType as "auditor" }),
    models: t.stringList({
      description: "The models that judge for an operator.",
      resolve: ({ models }) => models?.split("\n") ?? [],
    }),
    feeUsdc: t.field({
      type: "Usdc",
      description: "The auditor's fee for it, including a bounty if there was one.",
      resolve: ({ fee }) => formatUsdc(fee),
    }),
    endpointHost: t.exposeString("host", { description: "The host of its endpoint at that time." }),
    assignedBlock: t.field({ type: "SafeInt", resolve: ({ block }) => block }),
    assignedAt: t.field({ type: "SafeInt", resolve: ({ time }) => time }),
    due: t.field({
      type: "SafeInt",
      nullable: true,
      description:
        "The deadline for the verdict, by the present parameters. The first tick after it looks for another auditor. Until one is found, a verdict of this auditor still counts.",
      resolve: async ({ time }, _, context) => {
        const params = await paramsInForce(context);
        return params && time + params.audit.verdictSeconds;
      },
    }),
    tickHash: t.string({
      nullable: true,
      description:
        'Hash of the block that drew it. Try k takes the place u64(SHA-256("tallystick/audit/auditor/v1 HASH HIRE ROUND ATTEMPT k")) mod the roster\'s size.',
      resolve: ({ block }, _, context) => tickHash(block, context),
    }),
    passedOver: t.stringList({
      description:
        "The reasons why the auditors at the first places could not be assigned, in order: party, tier, capability, cluster, family, pair, earlier or akin.",
      resolve: ({ passedOver }) => (passedOver === "" ? [] : passedOver.split(",")),
    }),
    clusters: t.field({
      type: [AgentClustersRef],
      description: "The clusters of auditor, buyer and seller at that time.",
      resolve: ({ clusters, families }) => {
        const familyOf = JSON.parse(families) as { [agent: string]: string };
        return Object.entries(JSON.parse(clusters) as { [agent: string]: string[] }).map(
          ([address, ids]) => ({
            ...{ address, clusters: ids },
            family: familyOf[address] ?? null,
          }),
        );
      },
    }),
    verdict: t.field({
      type: AuditVerdict,
      nullable: true,
      resolve: ({ verdict }) => verdict as "pass" | null,
    }),
    verdictTime: t.field({ type: "SafeInt", nullable: true, resolve: ({ verdictTime }) => verdictTime }),
    reasonCodes: t.stringList({ resolve: ({ reasons }) => reasons?.split(",") ?? [] }),
    reasons: t.field({
      type: [AuditReasonRef],
      description: "The reasons, with the auditor's own words: a stranger's text.",
      resolve: async ({ record }, _, context) => {
        if (record === null) return [];
        const row = await context.load.recordByHash.load(record);
        const event = row && (await recordEvent(row, context));
        return (event?.body.reasons ?? []) as AuditReason[];
      },
    }),
    verdictRecord: t.exposeString("record", {
      nullable: true,
      description: "Hash of the ledger entry with its verdict.",
    }),
  }),
});

export const AuditAssignmentConnection = builder.connectionObject(
  { type: AuditAssignmentRef, name: "AuditAssignmentConnection" },
  { name: "AuditAssignmentEdge" },
);

registerNode("AuditAssignment", {
  form: /^0x[0-9a-f]{64}(-[0-9]+)?\/[0-9]+\/[0-9]+$/,
  find: (id, { load }) => load.auditAssignment.load(id),
});

const AuditAssignmentFilter = builder.inputType("AuditAssignmentFilter", {
  fields: (t) => ({
    auditor: t.field({ type: "Address" }),
    operator: t.field({ type: "Address" }),
    open: t.boolean({ description: "True: assignments that wait for a verdict now. False: all others." }),
  }),
});

builder.queryFields((t) => ({
  auditAssignments: t.connection(
    {
      description:
        "The assignments of audits, the latest first. With an auditor and `open: true`: what it has to judge now. With several filters a page may have fewer rows than asked for, although more follow (see agents).",
      type: AuditAssignmentRef,
      args: {
        orderDirection: t.arg({ type: OrderDirection }),
        where: t.arg({ type: AuditAssignmentFilter }),
      },
      resolve: (_, { where, ...args }, context) => listPage(args, context, assignmentList(where ?? {})),
    },
    AuditAssignmentConnection,
  ),
}));

builder.objectField(AgentRef, "auditAssignments", (t) =>
  t.connection(
    {
      description: "The audits that were assigned to it, the latest first.",
      type: AuditAssignmentRef,
      args: { orderDirection: t.arg({ type: OrderDirection }), open: t.arg.boolean() },
      resolve: ({ row }, { open, ...args }, context) =>
        listPage(args, context, assignmentList({ auditor: row.id, open: open ?? null })),
    },
    AuditAssignmentConnection,
  ),
);
