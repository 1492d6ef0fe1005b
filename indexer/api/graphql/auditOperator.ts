import type { Row } from "tallystick-derive/tables";
import { formatUsdc } from "tallystick-protocol/amount";
import { canaryListsOf, modeChangeList, modeList, periodsOf } from "../rows/auditOperators.ts";
import { AuditMode } from "./audit.ts";
import { builder, OrderDirection } from "./builder.ts";
import { listPage } from "./list.ts";

const AuditPoolModeRef = builder.objectRef<Row<"auditMode">>("AuditPoolMode").implement({
  description: "How far the audits of a capability are at an operator (SHP §8.3.4).",
  fields: (t) => ({
    operator: t.field({ type: "Address", resolve: ({ operator }) => operator }),
    capability: t.exposeString("capability"),
    mode: t.field({ type: AuditMode, resolve: ({ mode }) => mode as "mature" }),
    firstAssigned: t.field({
      type: "SafeInt",
      nullable: true,
      description: "When somebody was drawn first since it was last in bootstrap.",
      resolve: ({ firstAssigned }) => firstAssigned,
    }),
    recentVerdicts: t.exposeInt("verdicts", { description: "Of the last `matureShareSeconds`." }),
    recentAuditors: t.exposeInt("auditors", { description: "Who gave those." }),
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
      description: "What the operator said when it took the capability back; maturity comes by itself.",
    }),
    record: t.exposeString("record", {
      nullable: true,
      description: "Hash of the ledger entry that says so.",
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
  description: "30 days of a pool.",
  fields: (t) => ({
    from: t.field({ type: "SafeInt", resolve: ({ from }) => from }),
    accruedUsdc: t.field({ type: "Usdc", resolve: ({ accrued }) => formatUsdc(accrued) }),
    paidUsdc: t.field({ type: "Usdc", resolve: ({ paid }) => formatUsdc(paid) }),
    owedUsdc: t.field({
      type: "Usdc",
      description: "As at its last change in that time.",
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
    "Hires that an operator arranged to measure its auditors: first a commitment, later which they were.",
  fields: (t) => ({
    commitment: t.exposeString("commitment"),
    record: t.exposeString("record", { description: "Hash of the ledger entry that commits to it." }),
    block: t.field({ type: "SafeInt", resolve: ({ block }) => block }),
    time: t.field({ type: "SafeInt", resolve: ({ time }) => time }),
    revealedTime: t.field({ type: "SafeInt", nullable: true, resolve: ({ revealedTime }) => revealedTime }),
    revealRecord: t.exposeString("revealRecord", { nullable: true }),
    hires: t.exposeInt("hires", { description: "How many it has; 0 before it is revealed." }),
    voids: t.exposeInt("voids", { description: "Those of them that measure nothing." }),
  }),
});

const CanaryListConnection = builder.connectionObject(
  { type: CanaryListRef, name: "CanaryListConnection" },
  { name: "CanaryListEdge" },
);

/** The counts of an operator over all time. */
const COUNTS = {
  drawn: "Audits that were drawn.",
  contested: "Those of them for a refund after delivery.",
  passed: null,
  failed: "By auditors.",
  inconclusive: null,
  undisclosed: "Failed by the rules: the seller said nothing.",
  equivocal: "Failed by the rules: the seller said two things.",
  unassigned: "Audits for which nobody could be asked at the last tick.",
  unanswered: "Assignments without a verdict in time.",
  abandonedUnassigned: "Open when it left the parameters, and nobody was asked.",
  abandonedAssigned: "Open when it left the parameters, and somebody was asked.",
  abandonedRechecking: "Open when it left the parameters, to be looked at again.",
  issued: "Verdicts that it gave itself.",
  rolledBack: "Hires that it decided to roll back.",
  dismissed: "Challenges that it dismissed.",
  historyAgreed: "Its decisions with which mature auditors agreed later.",
  historyDiffered: "Its decisions with which they did not.",
  canariesCommitted: "Lists of arranged hires that it committed to.",
  canariesRevealed: "Lists that it revealed.",
} as const satisfies Partial<Record<keyof Row<"auditOperator">, string | null>>;

const AuditOperatorFiguresRef = builder.objectRef<Row<"auditOperator">>("AuditOperatorFigures").implement({
  description: "What an operator's audits came to, of all time.",
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
      description: "What its auditors earned and were not paid, each by itself.",
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

builder.queryFields((t) => ({
  auditOperator: t.field({
    type: AuditOperatorFiguresRef,
    nullable: true,
    description: "Null of one whose audits came to nothing yet.",
    args: { address: t.arg({ type: "Address", required: true }) },
    resolve: (_, { address }, { load }) => load.auditOperator.load(address),
  }),
  auditModes: t.connection(
    {
      description: "How far the audits of each capability are, by operator and capability.",
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
      description: "When the audits of a capability became mature, or were taken back, the latest first.",
      type: AuditModeChangeRef,
      args: { orderDirection: t.arg({ type: OrderDirection }), operator: t.arg({ type: "Address" }) },
      resolve: (_, { operator, ...args }, context) => listPage(args, context, modeChangeList(operator)),
    },
    AuditModeChangeConnection,
  ),
}));
