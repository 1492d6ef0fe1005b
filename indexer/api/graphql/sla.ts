import { linesOf } from "tallystick-derive/steward/sla/lines";
import {
  breachReport,
  type GuaranteeReport,
  guaranteeReport,
  type MonitoringReport,
  monitoringReport,
  slaReport,
  type TierRequirement,
  tierRequirements,
} from "tallystick-derive/steward/sla/slaReport";
import type { Row } from "tallystick-derive/tables";
import { formatUsdc } from "tallystick-protocol/amount";
import { breachesOf, claimsOf, monitoringOf } from "../rows/steward.ts";
import { type Agent, AgentRef, agentAt } from "./agent.ts";
import { builder, OrderDirection } from "./builder.ts";
import { listPage } from "./list.ts";
import { NodeRef, registerNode } from "./node.ts";
import { finderOf, timeOf } from "./steward.ts";

/**
 * The most steps that are shown of a breach. Only a breach with hundreds of claims has more; then the latest
 * steps are shown.
 */
const MAX_STEPS = 100;

type Breach = Row<"breach">;
type Step = Row<"breachStep">;
type Claim = Row<"slaClaim">;
type Sla = { row: Row<"sla">; agent: Agent; score: Row<"steward"> | null; time: number };

const figure = "A share, or milliseconds.";

const GuaranteeRef = builder.objectRef<GuaranteeReport>("SlaGuarantee").implement({
  description: "One guarantee of an SLA, and its present state (STEWARD T019).",
  fields: (t) => ({
    id: t.exposeID("id"),
    metric: t.exposeString("metric"),
    measurementWindow: t.string({ resolve: (it) => it.measurement_window }),
    target: t.exposeFloat("target", { description: figure }),
    breachThreshold: t.float({ description: figure, resolve: (it) => it.breach_threshold }),
    current: t.exposeFloat("current", { nullable: true, description: "Null without data." }),
    status: t.exposeString("status", { description: "compliant, at_risk or breached." }),
    buffer: t.exposeFloat("buffer", {
      nullable: true,
      description: "The distance to the target. Positive: on the good side.",
    }),
    lastBreach: t.field({ type: "SafeInt", nullable: true, resolve: (it) => it.last_breach }),
    daysUntilBreach: t.int({
      nullable: true,
      description: "Days until a breach, if the trend of the last days continues.",
      resolve: (it) => it.days_until_breach,
    }),
    openBreach: t.field({
      type: BreachRef,
      nullable: true,
      resolve: ({ open_breach: id }, _, { load }): Promise<Breach | null> | null =>
        id === null ? null : load.breach.load(id),
    }),
    penalty: t.field({ type: "JSON", resolve: ({ penalty }) => penalty }),
    since: t.field({ type: "SafeInt", resolve: ({ since }) => since }),
    boundUntil: t.field({
      type: "SafeInt",
      nullable: true,
      description: "Set when it was weakened, dropped or withdrawn: it binds until this time.",
      resolve: (it) => it.bound_until,
    }),
  }),
});

export const BreachStepRef = builder.objectRef<Step>("BreachStep").implement({
  fields: (t) => ({
    step: t.exposeString("step", {
      description: "detected, disputed, upheld, overturned, confirmed, closed, reinstated or paid.",
    }),
    recordHash: t.exposeString("record", {
      nullable: true,
      description: "Hash of the ledger entry that caused it.",
    }),
    block: t.field({ type: "SafeInt", resolve: ({ block }) => block }),
    time: t.field({ type: "SafeInt", resolve: ({ time }) => time }),
  }),
});

const ClaimRef = builder.objectRef<Claim>("SlaClaim").implement({
  description: "The money that an agent owes a buyer for a breach.",
  fields: (t) => ({
    buyer: t.field({ type: "Address", resolve: ({ buyer }) => buyer }),
    owedUsdc: t.field({ type: "Usdc", resolve: ({ owed }) => formatUsdc(owed) }),
    payment: t.exposeString("payment", {
      nullable: true,
      description: "The transfer that paid it, as `<tx>-<log>`.",
    }),
  }),
});

const ClaimConnection = builder.connectionObject(
  { type: ClaimRef, name: "SlaClaimConnection" },
  { name: "SlaClaimEdge" },
);

const BreachRef = builder.objectRef<Breach>("Breach").implement({
  interfaces: [NodeRef],
  description: "A guarantee that was broken, with its terms at that time (STEWARD T020).",
  fields: (t) => ({
    id: t.exposeID("id"),
    agentAddress: t.field({ type: "Address", resolve: ({ agent }) => agent }),
    agent: t.field(agentAt(({ agent }) => agent)),
    guarantee: t.exposeID("guarantee"),
    metric: t.exposeString("metric"),
    measurementWindow: t.string({ resolve: ({ days }) => `${days} days` }),
    target: t.float({ description: figure, resolve: (it) => breachReport(it).target }),
    breachThreshold: t.float({ description: figure, resolve: (it) => breachReport(it).breach_threshold }),
    value: t.float({ description: "The measured value.", resolve: (it) => breachReport(it).value }),
    status: t.exposeString("status", { description: "detected, disputed, confirmed or overturned." }),
    detectedAt: t.field({ type: "SafeInt", resolve: ({ detectedTime }) => detectedTime }),
    decidedBy: t.field({
      type: "SafeInt",
      description: "The deadline of the dispute or of the ruling, whichever comes next.",
      resolve: ({ decidedBy }) => decidedBy,
    }),
    dispute: t.exposeString("dispute", { nullable: true, description: "Hash of the ledger entry." }),
    ruling: t.exposeString("ruling", { nullable: true, description: "Hash of the ledger entry." }),
    excuse: t.exposeString("excuse", { nullable: true }),
    confirmedAt: t.field({ type: "SafeInt", nullable: true, resolve: ({ confirmedTime }) => confirmedTime }),
    closedAt: t.field({ type: "SafeInt", nullable: true, resolve: ({ closedTime }) => closedTime }),
    goodDays: t.exposeInt("goodDays", { description: "The good days among the 30 days of recovery." }),
    penalty: t.field({ type: "JSON", resolve: ({ penalty }) => JSON.parse(penalty) }),
    owedUsdc: t.field({ type: "Usdc", resolve: ({ owed }) => formatUsdc(owed) }),
    paidUsdc: t.field({ type: "Usdc", resolve: ({ paid }) => formatUsdc(paid) }),
    steps: t.field({
      type: [BreachStepRef],
      description: `The latest ${MAX_STEPS} steps, in order.`,
      resolve: async ({ id, steps }, _, { load, takeRows }) => {
        const from = Math.max(0, steps - MAX_STEPS);
        takeRows(steps - from);
        const ids = Array.from({ length: steps - from }, (_, n) => `${id}/${from + n}`);
        const rows = await load.breachStep.loadMany(ids);
        return rows.flatMap((row) => {
          if (row instanceof Error) throw row;
          return row ?? [];
        });
      },
    }),
    claims: t.connection(
      {
        type: ClaimRef,
        args: { orderDirection: t.arg({ type: OrderDirection }) },
        resolve: ({ id }, args, context) => listPage(args, context, claimsOf(id)),
      },
      ClaimConnection,
    ),
  }),
});

builder.objectField(BreachStepRef, "breach", (t) =>
  t.field({
    type: BreachRef,
    nullable: true,
    resolve: ({ breach }, _, { load }): Promise<Breach | null> => load.breach.load(breach),
  }),
);

const BreachConnection = builder.connectionObject(
  { type: BreachRef, name: "BreachConnection" },
  { name: "BreachEdge" },
);

const TierRequirementRef = builder.objectRef<TierRequirement>("SlaTierRequirement").implement({
  description: "A requirement of a tier for SLAs (STEWARD T027). It is only shown, and changes no tier.",
  fields: (t) => ({
    tier: t.exposeString("tier"),
    metric: t.exposeString("metric"),
    bound: t.exposeFloat("bound", {
      description: "The lowest promise that is enough; for a latency, the highest promise.",
    }),
    promised: t.exposeFloat("promised", {
      nullable: true,
      description: "The best promise; null when there is none.",
    }),
    isMet: t.boolean({ resolve: (it) => it.is_met }),
  }),
});

const MonitoringDifferenceRef = builder
  .objectRef<MonitoringReport["differences"][number]>("SlaMonitoringDifference")
  .implement({
    fields: (t) => ({
      metric: t.exposeString("metric"),
      measurementWindow: t.string({ resolve: (it) => it.measurement_window }),
      measured: t.exposeFloat("measured", { nullable: true, description: figure }),
      claimed: t.exposeFloat("claimed", {
        nullable: true,
        description: "The value that the agent's own endpoint gave.",
      }),
    }),
  });

const MonitoringRef = builder.objectRef<MonitoringReport>("SlaMonitoring").implement({
  description: "A prober's latest comparison with an agent's own monitoring (STEWARD T026).",
  fields: (t) => ({
    prober: t.field({ type: "Address", resolve: ({ prober }) => prober }),
    endpoint: t.exposeString("endpoint"),
    askedAt: t.field({ type: "SafeInt", resolve: (it) => it.asked_at }),
    differences: t.field({
      type: [MonitoringDifferenceRef],
      description: "The guarantees with a different value; empty when there are no differences any more.",
      resolve: ({ differences }) => differences,
    }),
    recordHash: t.exposeString("record"),
  }),
});

const MonitoringConnection = builder.connectionObject(
  { type: MonitoringRef, name: "SlaMonitoringConnection" },
  { name: "SlaMonitoringEdge" },
);

const SlaRef = builder.objectRef<Sla>("Sla").implement({
  description: "An agent's SLA (STEWARD T018), as of the last hour.",
  fields: (t) => ({
    overallStatus: t.string({
      description: "compliant, at_risk or breached: the worst of its guarantees.",
      resolve: ({ row }) => row.status,
    }),
    version: t.string({ resolve: ({ row }) => row.version }),
    recordHash: t.string({ resolve: ({ row }) => row.record }),
    body: t.field({
      type: "JSON",
      description:
        "The whole body of the record, with monitoring endpoints and the rules for notices and disputes.",
      resolve: ({ row }) => JSON.parse(row.body),
    }),
    issuedAt: t.field({ type: "SafeInt", resolve: ({ row }) => row.issuedAt }),
    time: t.field({ type: "SafeInt", resolve: ({ row }) => row.time }),
    guarantees: t.field({
      type: [GuaranteeRef],
      description: "The guarantees that bind the agent now.",
      resolve: async ({ row }, _, context) => {
        const ids = linesOf(row.binding);
        context.takeRows(ids.length);
        return (await finderOf(context)("guarantee", ids)).map(guaranteeReport);
      },
    }),
    tierRequirements: t.field({
      type: [TierRequirementRef],
      resolve: async ({ row }, _, context) => {
        const ids = linesOf(row.binding);
        context.takeRows(ids.length);
        return tierRequirements(await finderOf(context)("guarantee", ids)).tier_requirements;
      },
    }),
    breaches: t.connection(
      {
        type: BreachRef,
        description: "All breaches, the latest first.",
        args: { orderDirection: t.arg({ type: OrderDirection }) },
        resolve: ({ row }, args, context) => listPage(args, context, breachesOf(row.id)),
      },
      BreachConnection,
    ),
    ownMonitoring: t.connection(
      {
        type: MonitoringRef,
        description:
          "The differences between its own monitoring endpoint and the measured values, by prober.",
        args: { orderDirection: t.arg({ type: OrderDirection }) },
        resolve: ({ row }, args, context) =>
          listPage(args, context, monitoringOf(row.id), { toNode: monitoringReport }),
      },
      MonitoringConnection,
    ),
    trustScoreImpact: t.float({
      description: "The effect of breaches on the trust score: 0 or less.",
      resolve: ({ row, score, time }) =>
        slaReport(row, { guarantees: [], breaches: [], score, time }).trust_score_impact,
    }),
    suspendedUntil: t.field({
      type: "SafeInt",
      nullable: true,
      resolve: ({ row, time }) =>
        slaReport(row, { guarantees: [], breaches: [], score: null, time }).suspended_until,
    }),
  }),
});

builder.objectField(AgentRef, "sla", (t) =>
  t.field({
    type: SlaRef,
    nullable: true,
    description: "Its SLA; null when it has none.",
    resolve: async (agent, _, context) => {
      context.takeRows(2);
      const [row, score, time] = await Promise.all([
        context.load.sla.load(agent.row.id),
        context.load.steward.load(agent.row.id),
        timeOf(context),
      ]);
      return row === null ? null : { row, agent, score, time };
    },
  }),
);

registerNode("Breach", {
  form: /^brch_[0-9A-HJKMNP-TV-Z]{26}$/,
  find: (id, { load }) => load.breach.load(id),
});

builder.queryField("breach", (t) =>
  t.field({
    type: BreachRef,
    nullable: true,
    args: { id: t.arg.id({ required: true }) },
    resolve: (_, { id }, { load }) => load.breach.load(id),
  }),
);
