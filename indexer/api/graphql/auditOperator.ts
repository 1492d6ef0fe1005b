import type { Row } from "tallystick-derive/tables";
import { formatUsdc } from "tallystick-protocol/amount";
import { canaryListsOf, modeChangeList, modeList, operatorList, periodsOf } from "../rows/auditOperators.ts";
import { AuditMode } from "./audit.ts";
import { builder, OrderDirection } from "./builder.ts";
import { listPage } from "./list.ts";

const AuditPoolModeRef = builder.objectRef<Row<"auditMode">>("AuditPoolMode").implement({
  description: "The audit mode of a capability at an operator (SHP §8.3.4).",
  fields: (t) => ({
    operator: t.field({ type: "Address", resolve: ({ operator }) => operator }),
    capability: t.exposeString("capability"),
    mode: t.field({ type: AuditMode, resolve: ({ mode }) => mode as "mature" }),
    firstAssigned: t.field({
      type: "SafeInt",
      nullable: true,
      description: "The time of the first assignment since the capability was last set to bootstrap.",
      resolve: ({ firstAssigned }) => firstAssigned,
    }),
    recentVerdicts: t.exposeInt("verdicts", {
      description: "The number of verdicts in the last `matureShareSeconds`.",
    }),
    recentAuditors: t.exposeInt("auditors", {
      description: "The number of auditors that gave these verdicts.",
    }),
    changes: t.exposeInt("changes"),
  }),
});

const AuditPoolModeConnection = builder.connectionObject(
  { type: AuditPoolModeRef, name: "AuditPoolModeConnection" },
  { name: "AuditPoolModeEdge" },
);

const AuditModeChangeRef = builder.objectRef<Row<"auditModeChange">>("AuditModeChange").implement({
  fields: (t) => ({
    id: t.exposeID("id"),
    operator: t.field({ type: "Address", resolve: ({ operator }) => operator }),
    capability: t.exposeString("capability"),
    from: t.field({ type: AuditMode, resolve: ({ from }) => from as "mature" }),
    to: t.field({ type: AuditMode, resolve: ({ to }) => to as "mature" }),
    justification: t.exposeString("justification", {
      nullable: true,
      description:
        "The operator's reason for taking the capability back to bootstrap. Null when it became mature, which happens by itself.",
    }),
    record: t.exposeString("record", {
      nullable: true,
      description: "Hash of the ledger entry that set the mode.",
    }),
    block: t.field({ type: "SafeInt", resolve: ({ block }) => block }),
    time: t.field({ type: "SafeInt", resolve: ({ time }) => time }),
  }),
});

const AuditModeChangeConnection = builder.connectionObject(
  { type: AuditModeChangeRef, name: "AuditModeChangeConnection" },
  { name: "AuditModeChangeEdge" },
);

const AuditPeriodRef = builder.objectRef<Row<"auditPeriod">>("AuditPeriod").implement({
  description: "A period of 30 days of an operator's pool.",
  fields: (t) => ({
    from: t.field({ type: "SafeInt", resolve: ({ from }) => from }),
    accruedUsdc: t.field({ type: "Usdc", resolve: ({ accrued }) => formatUsdc(accrued) }),
    paidUsdc: t.field({ type: "Usdc", resolve: ({ paid }) => formatUsdc(paid) }),
    owedUsdc: t.field({
      type: "Usdc",
      description: "The debt after the last change in that period.",
      resolve: ({ owed }) => formatUsdc(owed),
    }),
  }),
});

const AuditPeriodConnection = builder.connectionObject(
  { type: AuditPeriodRef, name: "AuditPeriodConnection" },
  { name: "AuditPeriodEdge" },
);

const CanaryListRef = builder.objectRef<Row<"canaryList">>("CanaryList").implement({
  description:
    "Hires that an operator arranged to measure its auditors. First the operator commits to the list, and later it reveals the list.",
  fields: (t) => ({
    commitment: t.exposeString("commitment"),
    record: t.exposeString("record", { description: "Hash of the ledger entry that commits to it." }),
    block: t.field({ type: "SafeInt", resolve: ({ block }) => block }),
    time: t.field({ type: "SafeInt", resolve: ({ time }) => time }),
    revealedTime: t.field({ type: "SafeInt", nullable: true, resolve: ({ revealedTime }) => revealedTime }),
    revealRecord: t.exposeString("revealRecord", { nullable: true }),
    hires: t.exposeInt("hires", { description: "The number of hires in the list; 0 before it is revealed." }),
    voids: t.exposeInt("voids", { description: "The number of its hires that change no figure." }),
  }),
});

const CanaryListConnection = builder.connectionObject(
  { type: CanaryListRef, name: "CanaryListConnection" },
  { name: "CanaryListEdge" },
);

/** The counts of an operator over all time. */
const COUNTS = {
  drawn: "Audits that were drawn.",
  contested: "Drawn audits that were caused by a refund after delivery.",
  passed: null,
  failed: "Audits that auditors failed.",
  inconclusive: null,
  undisclosed: "Audits failed by the rules, because the work was not disclosed.",
  equivocal: "Audits failed by the rules, because the seller signed two contradicting receipts.",
  unassigned: "Audits for which no auditor was found at the last tick.",
  unanswered: "Assignments without a verdict in time.",
  abandonedUnassigned: "Audits without an auditor when the operator was removed from the parameters.",
  abandonedAssigned: "Audits that had an auditor when the operator was removed from the parameters.",
  abandonedRechecking:
    "Passed audits that waited for a second look when the operator was removed from the parameters.",
  issued: "Verdicts that the operator gave itself.",
  rolledBack: "Hires that it decided to roll back.",
  dismissed: "Challenges that it dismissed.",
  historyAgreed: "Its decisions with which mature auditors agreed later.",
  historyDiffered: "Its decisions with which mature auditors disagreed later.",
  canariesCommitted: "Lists of canaries that it committed to.",
  canariesRevealed: "Lists of canaries that it revealed.",
} as const satisfies Partial<Record<keyof Row<"auditOperator">, string | null>>;

const AuditOperatorFiguresRef = builder.objectRef<Row<"auditOperator">>("AuditOperatorFigures").implement({
  description: "An operator's audits in figures, of all time.",
  fields: (t) => ({
    address: t.field({ type: "Address", resolve: ({ id }) => id }),
    ...Object.fromEntries(
      Object.entries(COUNTS).map(([name, description]) => [
        name,
        t.field({
          type: "SafeInt",
          ...(description !== null && { description }),
          resolve: (it) => it[name as keyof typeof COUNTS],
        }),
      ]),
    ),
    accruedUsdc: t.field({ type: "Usdc", resolve: ({ accrued }) => formatUsdc(accrued) }),
    paidUsdc: t.field({ type: "Usdc", resolve: ({ paid }) => formatUsdc(paid) }),
    owedUsdc: t.field({
      type: "Usdc",
      description: "What its auditors earned and did not get yet, computed for each auditor separately.",
      resolve: ({ owed }) => formatUsdc(owed),
    }),
    periods: t.connection(
      {
        type: AuditPeriodRef,
        args: { orderDirection: t.arg({ type: OrderDirection }) },
        resolve: ({ id }, args, context) => listPage(args, context, periodsOf(id)),
      },
      AuditPeriodConnection,
    ),
    canaryLists: t.connection(
      {
        type: CanaryListRef,
        args: { orderDirection: t.arg({ type: OrderDirection }) },
        resolve: ({ id }, args, context) => listPage(args, context, canaryListsOf(id)),
      },
      CanaryListConnection,
    ),
  }),
});

const AuditOperatorFiguresConnection = builder.connectionObject(
  { type: AuditOperatorFiguresRef, name: "AuditOperatorFiguresConnection" },
  { name: "AuditOperatorFiguresEdge" },
);

builder.queryFields((t) => ({
  auditOperators: t.connection(
    {
      description:
        "The results of the audits of every operator, by address. Operators that left the parameters are included.",
      type: AuditOperatorFiguresRef,
      args: { orderDirection: t.arg({ type: OrderDirection }) },
      resolve: (_, args, context) => listPage(args, context, operatorList()),
    },
    AuditOperatorFiguresConnection,
  ),
  auditOperator: t.field({
    type: AuditOperatorFiguresRef,
    nullable: true,
    description: "The figures of an operator of audits; null while it has none.",
    args: { address: t.arg({ type: "Address", required: true }) },
    resolve: (_, { address }, { load }) => load.auditOperator.load(address),
  }),
  auditModes: t.connection(
    {
      description: "The audit mode of each capability, by operator and capability.",
      type: AuditPoolModeRef,
      args: {
        orderDirection: t.arg({ type: OrderDirection }),
        operator: t.arg({ type: "Address" }),
        capability: t.arg({ type: "Capability" }),
      },
      resolve: (_, { operator, capability, ...args }, context) =>
        listPage(args, context, modeList({ operator: operator ?? null, capability: capability ?? null })),
    },
    AuditPoolModeConnection,
  ),
  auditModeChanges: t.connection(
    {
      description:
        "The changes of audit modes, the latest first: a capability became mature, or was set back to bootstrap.",
      type: AuditModeChangeRef,
      args: { orderDirection: t.arg({ type: OrderDirection }), operator: t.arg({ type: "Address" }) },
      resolve: (_, { operator, ...args }, context) => listPage(args, context, modeChangeList(operator)),
    },
    AuditModeChangeConnection,
  ),
}));
