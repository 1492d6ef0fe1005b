import type { Counted } from "tallystick-derive/publishedField";
import { camelName, type FieldName, fieldNames, publishedFieldOf } from "tallystick-derive/publishedFields";
import { reputationOf } from "tallystick-derive/reputationOf";
import { STATE_ID } from "tallystick-derive/stateId";
import type { Row } from "tallystick-derive/tables";
import { countedAudits } from "../rows/audits.ts";
import { countedHires } from "../rows/hires.ts";
import { countedRatings } from "../rows/ratings.ts";
import { type Agent, AgentRef, clusterOf } from "./agent.ts";
import { AuditConnection, AuditRef } from "./audit.ts";
import { builder, OrderDirection } from "./builder.ts";
import type { QueryContext } from "./context.ts";
import { HireConnection, HireRef } from "./hire.ts";
import { listPage } from "./list.ts";
import type { PageArgs } from "./pageArgs.ts";
import { RatingConnection, RatingRef } from "./rating.ts";

/**
 * This number grows with every change to a rule of a published field. Digests of different versions cannot be
 * compared.
 */
const FORMULA_VERSION = 13;

type Explained = { agent: Agent; field: FieldName; state: Row<"state"> | null };

const ReputationField = builder.enumType("ReputationField", {
  values: Object.fromEntries(
    fieldNames.map((name) => [name.toUpperCase(), { value: name, description: `Agent.${camelName(name)}` }]),
  ) as Record<string, { value: FieldName; description: string }>,
});

const isPrivate = ({ agent }: Explained) => agent.row.privateListings > 0;

const ExplanationRef = builder.objectRef<Explained>("Explanation").implement({
  description:
    "How a figure was computed: what was divided by what, by which rule, and from which hires. For an agent with private metrics only the published bucket is given.",
  fields: (t) => ({
    field: t.field({ type: ReputationField, resolve: ({ field }) => field }),
    value: t.field({
      type: "JSON",
      nullable: true,
      description: "The value, as the agent's own field gives it.",
      resolve: async ({ agent, field }, _, context) => {
        const cluster = await clusterOf(agent, context);
        return reputationOf(agent.row, cluster, await context.load.prices.load(agent.row.id))[field];
      },
    }),
    numerator: t.string({
      nullable: true,
      description: "An exact number, `n` or `n/d`. Null if nothing is divided.",
      resolve: (it) =>
        isPrivate(it) ? null : (publishedFieldOf(it.field).numerator?.(it.agent.row) ?? null),
    }),
    denominator: t.string({
      nullable: true,
      resolve: (it) =>
        isPrivate(it) ? null : (publishedFieldOf(it.field).denominator?.(it.agent.row) ?? null),
    }),
    formula: t.string({ resolve: ({ field }) => publishedFieldOf(field).formula }),
    formulaVersion: t.int({
      description:
        "The version of the formulas, which rises when a rule changes. The parameters have a version of their own.",
      resolve: () => FORMULA_VERSION,
    }),
    paramsVersion: t.field({
      type: "SafeInt",
      nullable: true,
      resolve: ({ state }) => state?.paramsVersion ?? null,
    }),
    source: t.stringList({
      description: "Where the figure comes from: on-chain, receipt, telemetry, audit or registry.",
      resolve: ({ field }) => publishedFieldOf(field).source,
    }),
    cadence: t.string({ resolve: ({ field }) => publishedFieldOf(field).cadence }),
    asOfBlock: t.field({ type: "SafeInt", nullable: true, resolve: ({ state }) => state?.block ?? null }),
    asOfTime: t.field({ type: "SafeInt", nullable: true, resolve: ({ state }) => state?.time ?? null }),
    windowFrom: t.field({
      type: "SafeInt",
      nullable: true,
      description: "Only hires paid after this time count. Null if time does not matter.",
      resolve: ({ field, state }) => windowStart(field, state),
    }),
    hires: t.connection(
      {
        type: HireRef,
        nullable: true,
        description:
          "The hires from which it is computed, the latest first. Null if it is computed from something else.",
        args: { orderDirection: t.arg({ type: OrderDirection }) },
        resolve: (it, args, context) => hiresBehind(it, args, context),
      },
      HireConnection,
    ),
    audits: t.connection(
      {
        type: AuditRef,
        nullable: true,
        description: "The audits from which it is computed, the latest first.",
        args: { orderDirection: t.arg({ type: OrderDirection }) },
        resolve: (it, args, context) => auditsBehind(it, args, context),
      },
      AuditConnection,
    ),
    ratings: t.connection(
      {
        type: RatingRef,
        nullable: true,
        description: "The ratings from which it is computed, the latest first.",
        args: { orderDirection: t.arg({ type: OrderDirection }) },
        resolve: (it, args, context) => ratingsBehind(it, args, context),
      },
      RatingConnection,
    ),
  }),
});

builder.objectField(AgentRef, "explain", (t) =>
  t.field({
    type: ExplanationRef,
    description: "How the value of a field of its reputation was computed.",
    args: { field: t.arg({ type: ReputationField, required: true }) },
    resolve: async (agent, { field }, { load }) => ({ agent, field, state: await load.state.load(STATE_ID) }),
  }),
);

function countedBy(field: FieldName): Counted {
  return publishedFieldOf(field).counts ?? {};
}

function windowStart(field: FieldName, state: Row<"state"> | null): number | null {
  const { window } = countedBy(field);
  if (window === undefined || state === null) return null;
  return state.time - JSON.parse(state.params)[window];
}

function hiresBehind(it: Explained, args: PageArgs, context: QueryContext) {
  const counted = countedBy(it.field);
  if (counted.hires === undefined || isPrivate(it)) return null;
  return listPage(args, context, countedHires(it.agent.row.id, counted, windowStart(it.field, it.state)));
}

function ratingsBehind(it: Explained, args: PageArgs, context: QueryContext) {
  const { ratings } = countedBy(it.field);
  if (ratings === undefined || isPrivate(it)) return null;
  return listPage(args, context, countedRatings(it.agent.row.id, ratings));
}

function auditsBehind(it: Explained, args: PageArgs, context: QueryContext) {
  if (it.field !== "audit_pass_rate" || isPrivate(it)) return null;
  return listPage(args, context, countedAudits(it.agent.row.id));
}
