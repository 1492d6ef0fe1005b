import { STATE_ID } from "tallystick-derive/stateId";
import { DAY, dayOf } from "tallystick-derive/steward/days";
import type { FactorReport } from "tallystick-derive/steward/scoreReport";
import { type Requirement, STEWARD_TIERS } from "tallystick-derive/steward/stewardTier";
import type { Row } from "tallystick-derive/tables";
import { attestationsOf, salesSince, scoreList } from "../rows/steward.ts";
import { type FindRows, type PublishedScore, publishedScoreOf } from "../steward/publishedScoreOf.ts";
import { type Agent, AgentRef, findAgent } from "./agent.ts";
import { builder, OrderDirection } from "./builder.ts";
import type { QueryContext } from "./context.ts";
import { HireConnection, HireRef } from "./hire.ts";
import { listPage } from "./list.ts";
import { StewardTierRef, tierNumber } from "./stewardTier.ts";

/** The number of rows behind a score. Each needs a look-up. */
const ROWS_OF_SCORE = 5;

export type Steward = PublishedScore & { agent: Agent };

const FactorRef = builder.objectRef<FactorReport>("StewardFactor").implement({
  description:
    "One factor of a trust score, with everything that is needed to compute it again (docs/steward.md, section 3).",
  fields: (t) => ({
    name: t.exposeString("name"),
    value: t.exposeFloat("value"),
    weight: t.exposeFloat("weight"),
    contribution: t.exposeFloat("contribution", { description: "value × weight." }),
    source: t.exposeString("source", { description: "attestation, uptime, hires or endorsement." }),
    lastVerified: t.field({ type: "SafeInt", nullable: true, resolve: (it) => it.last_verified }),
    evidence: t.field({
      type: "JSON",
      description:
        "The evidence, as in the trust report of the REST API: test runs, slots by day, and endorsements, also those that do not count.",
      resolve: ({ evidence }) => evidence,
    }),
  }),
});

const RequirementRef = builder.objectRef<Requirement>("StewardRequirement").implement({
  description: "A requirement of a tier: the metric must be strictly above a bound.",
  fields: (t) => ({
    tier: t.field({ type: StewardTierRef, resolve: ({ tier }) => tier }),
    metric: t.exposeString("metric"),
    above: t.exposeFloat("above"),
    isMet: t.boolean({ resolve: ({ is_met }) => is_met }),
  }),
});

const RankingsRef = builder.objectRef<PublishedScore["report"]>("StewardRankings").implement({
  description: "The advice of a tier for discovery and for buyers.",
  fields: (t) => ({
    discoveryRank: t.int({ resolve: (it) => it.discovery_rank }),
    maxDelegationsPerDay: t.int({
      nullable: true,
      description: "The highest number of delegations a day; null for no limit.",
      resolve: (it) => it.max_delegations_per_day,
    }),
    shownWithWarning: t.boolean({ resolve: (it) => it.shown_with_warning }),
  }),
});

type Attestation = Row<"attestation">;

const AttestationRef = builder.objectRef<Attestation>("Attestation").implement({
  description: "A signed statement about the results of an agent's tests.",
  fields: (t) => ({
    recordHash: t.exposeString("id", { description: "Hash of the ledger entry." }),
    kind: t.exposeString("kind", {
      description:
        "self (signed by the agent), or attested (signed by an attestor that the parameters name).",
    }),
    signer: t.field({ type: "Address", resolve: ({ signer }) => signer }),
    alias: t.exposeString("alias", { nullable: true }),
    version: t.exposeString("version"),
    commit: t.exposeString("commit"),
    ciUrl: t.exposeString("ciUrl", { nullable: true }),
    coverageTool: t.exposeString("coverageTool", { nullable: true }),
    ranAt: t.field({ type: "SafeInt", resolve: ({ ranAt }) => ranAt }),
    testsPassing: t.exposeInt("testsPassing", {
      description: "The passed tests of the worst run; 0 of 0 if the attestation does not count.",
    }),
    testsTotal: t.exposeInt("testsTotal"),
    runs: t.field({ type: "JSON", resolve: ({ runs }) => JSON.parse(runs) }),
    block: t.field({ type: "SafeInt", resolve: ({ block }) => block }),
    time: t.field({ type: "SafeInt", resolve: ({ time }) => time }),
  }),
});

const AttestationConnection = builder.connectionObject(
  { type: AttestationRef, name: "AttestationConnection" },
  { name: "AttestationEdge" },
);

const StewardRef = builder.objectRef<Steward>("Steward").implement({
  description:
    "The trust score (STEWARD). It is advice and never changes the trust tier. It is computed every hour; its figures are as of the tick at computedAt.",
  fields: (t) => ({
    agent: t.field({ type: AgentRef, resolve: ({ agent }) => agent }),
    score: t.float({ description: "From 0 to 1.", resolve: ({ report }) => report.score }),
    tier: t.field({ type: StewardTierRef, resolve: ({ report }) => report.tier }),
    algorithmVersion: t.string({ resolve: ({ report }) => report.algorithm_version }),
    algorithmScore: t.float({
      description:
        "The weighted sum of the factors, before the deductions for denied downtime and breaches of the SLA.",
      resolve: ({ report }) => report.algorithm_score,
    }),
    computedAt: t.field({ type: "SafeInt", resolve: ({ report }) => report.computed_at }),
    computedBlock: t.field({ type: "SafeInt", resolve: ({ report }) => report.computed_block }),
    deniedSlots: t.int({
      description: "Slots of 30 days in which the agent says that it was up, and the probers found it down.",
      resolve: ({ report }) => report.denied_slots,
    }),
    deniedCost: t.float({ resolve: ({ report }) => report.denied_cost }),
    slaFactor: t.string({
      description: "The factor by which breaches of its SLA multiply the score, as an exact fraction.",
      resolve: ({ report }) => report.sla_factor,
    }),
    factors: t.field({ type: [FactorRef], resolve: ({ report }) => report.factors }),
    requirements: t.field({ type: [RequirementRef], resolve: ({ report }) => report.requirements }),
    badges: t.stringList({
      description:
        "verified: the human claim is verified; sla_compliant: 30 days of an SLA without a confirmed breach.",
      resolve: ({ report }) => report.badges,
    }),
    rankings: t.field({ type: RankingsRef, resolve: ({ report }) => report }),
    suspendedUntil: t.field({
      type: "SafeInt",
      nullable: true,
      description: "It is suspended until then because of a breach of its SLA, and takes no new hires.",
      resolve: ({ report }) => report.suspended_until,
    }),
    decayedSuccessRate: t.float({
      nullable: true,
      description:
        "The success rate with less weight for older hires: each day weighs e^(−0.1) times as much as the day after it.",
      resolve: ({ report }) => report.decayed.success_rate,
    }),
    difficultySuccess: t.float({
      nullable: true,
      description:
        "The success rate with hires weighted by the published difficulty of their capability. It is not part of the score.",
      resolve: ({ report }) => report.difficulty_success,
    }),
    decayedUptime: t.float({ nullable: true, resolve: ({ report }) => report.decayed.uptime }),
    alias: t.string({
      nullable: true,
      description: "The name that it gave itself. Other agents may use the same name.",
      resolve: ({ sources }) => sources.row.alias,
    }),
    attestations: t.connection(
      {
        type: AttestationRef,
        description: "All attestations of its tests, the latest first.",
        args: { orderDirection: t.arg({ type: OrderDirection }) },
        resolve: ({ agent }, args, context) => listPage(args, context, attestationsOf(agent.row.id)),
      },
      AttestationConnection,
    ),
    hires: t.connection(
      {
        type: HireRef,
        nullable: true,
        description:
          "The hires of the score's 30 days, the latest first. Hires that were counted after computedBlock enter the next score. Null for an agent with private metrics.",
        args: { orderDirection: t.arg({ type: OrderDirection }) },
        resolve: ({ agent, report }, args, context) =>
          agent.row.privateListings > 0
            ? null
            : listPage(args, context, salesSince(agent.row.id, (dayOf(report.computed_at) - 29) * DAY)),
      },
      HireConnection,
    ),
  }),
});

/** Finds rows by id, combined with the other look-ups of the query. */
export function finderOf({ load }: QueryContext): FindRows {
  return async (table, ids) => {
    const rows = await load[table].loadMany([...ids]);
    return rows.flatMap((row) => {
      if (row instanceof Error) throw row;
      return row === null ? [] : [row];
    }) as never;
  };
}

/** The time of the last tick. */
export async function timeOf({ load }: QueryContext): Promise<number> {
  return (await load.state.load(STATE_ID))?.time ?? 0;
}

export async function stewardOf(agent: Agent, context: QueryContext): Promise<Steward | null> {
  context.takeRows(ROWS_OF_SCORE);
  const published = await publishedScoreOf(finderOf(context), agent.row, await timeOf(context));
  return published === null ? null : { ...published, agent };
}

builder.objectField(AgentRef, "steward", (t) =>
  t.field({
    type: StewardRef,
    nullable: true,
    description:
      "Its trust score. Null until an hour after its first sale, attestation, endorsement or probe.",
    resolve: (agent, _, context) => stewardOf(agent, context),
  }),
);

const ScoreRef = builder.objectRef<Row<"steward">>("TrustScore").implement({
  description: "An agent and its trust score.",
  fields: (t) => ({
    score: t.float({ resolve: ({ score }) => score / 1e9 }),
    tier: t.field({ type: StewardTierRef, resolve: ({ tier }) => STEWARD_TIERS[tier]?.name ?? "UNVERIFIED" }),
    computedAt: t.field({ type: "SafeInt", resolve: ({ computedTime }) => computedTime ?? 0 }),
    address: t.field({ type: "Address", resolve: ({ id }) => id }),
    agent: t.field({
      type: AgentRef,
      nullable: true,
      resolve: ({ id }, _, context) => findAgent(id, context),
    }),
  }),
});

const ScoreConnection = builder.connectionObject(
  { type: ScoreRef, name: "TrustScoreConnection" },
  { name: "TrustScoreEdge" },
);

builder.queryField("trustScores", (t) =>
  t.connection(
    {
      type: ScoreRef,
      description:
        "Agents by their trust score, the highest first. With a tier a page may have fewer rows than asked for, although more follow (see agents).",
      args: {
        orderDirection: t.arg({ type: OrderDirection }),
        minScore: t.arg.float(),
        tier: t.arg({ type: StewardTierRef, description: "This tier or a higher one." }),
      },
      resolve: (_, { minScore, tier, ...args }, context) =>
        listPage(args, context, scoreList({ minScore, minTier: tier == null ? null : tierNumber(tier) })),
    },
    ScoreConnection,
  ),
);
