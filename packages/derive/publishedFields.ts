import { familyFields } from "./families/fields.ts";
import { medianPrices, ratio, share, usdc } from "./fieldValues.ts";
import { type Counted, field, type PublishedField } from "./publishedField.ts";
import { parseRational, toNumber } from "./rational.ts";

const ON_ANCHOR = "with the anchor of the record, or the payment";
const ON_TICK = "with the anchor or payment; hires leave the window at the next tick";

const registration = { section: "SHP §9.2", source: ["on-chain", "registry"], cadence: "once" };
const onChain = { section: "SHP §9.2", source: ["on-chain", "receipt"], cadence: ON_TICK };
const outcome = { ...onChain, source: ["on-chain", "receipt", "telemetry", "audit"] };
const latency = { section: "SHP §9.2", source: ["receipt", "telemetry"], cadence: ON_TICK };
const cluster = {
  section: "SHP §4.5",
  source: ["on-chain", "registry"],
  cadence: "with the transfer, registration or listing",
};
const claim = { section: "SHP §4.2", source: ["registry"], cadence: ON_ANCHOR };
const window = "windowSeconds";
const timed: Counted = { window, hires: "timed" };

/**
 * Every published field of an agent, in the order of its answers. A field is about the agent as a seller, over the
 * hires in the window and as of the last tick, unless it says otherwise. The derivation, GraphQL, REST, the SDK's types
 * and the documents all use this one table.
 */
export const publishedFields = {
  registered_block: field({
    type: "block",
    description: "The block in which the agent first appeared.",
    formula: "block of its first appearance: a listing, a counted hire or an escrow deposit",
    ...registration,
    columns: ["registeredBlock"],
    value: ({ agent }) => agent.registeredBlock,
  }),
  registered_time: field({
    type: "time",
    description: "The time at which the agent first appeared.",
    formula: "time of its first appearance",
    ...registration,
    columns: ["registeredTime"],
    value: ({ agent }) => agent.registeredTime,
  }),
  success_rate: field({
    type: "rate",
    description: "The share of successes among its rated hires of 30 days, by weight.",
    formula: "Σw of successes / Σw of hires that are not neutral",
    ...outcome,
    bucket: "tenths",
    columns: ["successWeight", "ratedWeight"],
    value: ({ agent }) => ratio(agent.successWeight, agent.ratedWeight),
    numerator: (it) => it.successWeight,
    denominator: (it) => it.ratedWeight,
    counts: { window, hires: "rated" },
  }),
  avg_latency_ms: field({
    type: "latency",
    description: "The mean latency of its hires of 30 days.",
    formula:
      "Σ latency / number of hires whose latency is known, undampened; the buyer's measure before the seller's",
    ...latency,
    bucket: "powerOfTwo",
    columns: ["latencySum", "latencies"],
    value: ({ agent }) => share(agent.latencySum, BigInt(agent.latencies)),
    numerator: (it) => String(it.latencySum),
    denominator: (it) => String(it.latencies),
    counts: timed,
  }),
  avg_latency_ms_p50: percentile("latencyP50", 50),
  avg_latency_ms_p95: percentile("latencyP95", 95),
  avg_latency_ms_p99: percentile("latencyP99", 99),
  avg_cost_per_capability: field({
    type: "prices",
    description: "The median price that was paid for each capability.",
    formula:
      "for each known capability, the median of the amounts paid or deposited (of an even number, the mean of the middle two), undampened",
    section: "SHP §9.2",
    source: ["on-chain"],
    cadence: ON_TICK,
    bucket: "leftOut",
    columns: [],
    value: ({ prices }) => medianPrices(prices),
    counts: { window, hires: "priced" },
  }),
  last_24h_volume_usdc: field({
    type: "usdc",
    description: "The prices of its hires of 24 hours, by weight.",
    formula: "Σw·price over `volumeWindowSeconds`, rounded half up at the atomic unit",
    section: "SHP §9.2",
    source: ["on-chain"],
    cadence: ON_TICK,
    bucket: "powerOfTenUsdc",
    columns: ["dayVolume"],
    value: ({ agent }) => usdc(parseRational(agent.dayVolume)),
    numerator: (it) => it.dayVolume,
    counts: { window: "volumeWindowSeconds", hires: "all" },
  }),
  last_30d_hire_count: field({
    type: "weight",
    description:
      "Its hires of 30 days, by weight: a hire weighs 1, or 1/size of the cluster that buyer and seller shared when it was counted.",
    formula: "Σw of all hires, neutral ones too",
    ...onChain,
    bucket: "powerOfTen",
    columns: ["windowWeight"],
    value: ({ agent }) => toNumber(parseRational(agent.windowWeight)),
    numerator: (it) => it.windowWeight,
    counts: { window, hires: "all" },
  }),
  last_30d_hire_count_raw: field({
    type: "count",
    description: "Its hires of 30 days, each counted once.",
    formula: "number of hires, neutral ones too",
    ...onChain,
    bucket: "powerOfTen",
    columns: ["windowHires"],
    value: ({ agent }) => agent.windowHires,
    numerator: (it) => String(it.windowHires),
    counts: { window, hires: "all" },
  }),
  free_hires: field({
    type: "count",
    description: "Free calls with their buyers' signature, of all time.",
    formula: "receipts below `minHireAtomic` with the buyer's signature, one for each buyer, all time",
    section: "SHP §9.2",
    source: ["receipt"],
    cadence: ON_ANCHOR,
    bucket: "powerOfTen",
    columns: ["freeHires"],
    value: ({ agent }) => agent.freeHires,
    numerator: (it) => String(it.freeHires),
  }),
  distinct_buyers: field({
    type: "count",
    description: "The number of different buyers of its hires of 30 days. A cluster counts as one buyer.",
    formula:
      "number of buyers; all buyers that clusters join, of either kind and through several clusters, count as one",
    ...onChain,
    bucket: "powerOfTen",
    columns: ["distinctBuyers"],
    value: ({ agent }) => agent.distinctBuyers,
    numerator: (it) => String(it.distinctBuyers),
    counts: { window, hires: "all" },
  }),
  ...familyFields,
  total_ratings: field({
    type: "count",
    description: "The number of ratings by its buyers, of all time.",
    formula: "ratings by buyers of counted hires that are not neutral, all time",
    section: "SHP §9.2",
    source: ["receipt"],
    cadence: ON_ANCHOR,
    bucket: "powerOfTen",
    columns: ["totalRatings"],
    value: ({ agent }) => agent.totalRatings,
    numerator: (it) => String(it.totalRatings),
    counts: { ratings: "all" },
  }),
  avg_stars: field({
    type: "stars",
    description:
      "The mean of its buyers' stars of 30 days. A rating weighs e^(-0.1) for each day of its age.",
    formula:
      "Σw·qᵈ·stars / Σw·qᵈ over ratings in the window whose hires are not neutral, q = `starDecay`, d = whole days (⌊time/86400⌋) before the latest; w as of when the rating was counted",
    section: "SHP §9.2",
    source: ["receipt"],
    cadence: ON_TICK,
    bucket: "halves",
    columns: ["avgStars"],
    value: ({ agent }) => (agent.avgStars === null ? null : toNumber(parseRational(agent.avgStars))),
    counts: { window, ratings: "window" },
  }),
  cluster_id: field({
    type: "id",
    description: "Its cluster by shared ownership, else its cluster by similar listings.",
    formula: "its ownership cluster, else its fingerprint cluster: see Agent.cluster",
    ...cluster,
    columns: ["ownershipCluster", "fingerprintCluster"],
    value: (from) => from.cluster?.id ?? null,
  }),
  cluster_size: field({
    type: "count",
    description: "The number of members of that cluster; 1 without a cluster.",
    formula: "members of that cluster; 1 without one",
    ...cluster,
    columns: ["ownershipCluster", "fingerprintCluster"],
    value: (from) => from.cluster?.size ?? 1,
  }),
  signals_tripped: field({
    type: "texts",
    description: "The signals that put it into its clusters.",
    formula: "the signals that put it into its clusters: see fundingGraph",
    ...cluster,
    columns: ["signalsTripped"],
    value: ({ agent }) => (agent.signalsTripped === "" ? [] : agent.signalsTripped.split(",")),
  }),
  audit_pass_rate: field({
    type: "rate",
    description:
      "The share of passed audits of its hires. Null until one was passed, or one was rolled back.",
    formula:
      "audits passed / (audits passed + failed audits that were rolled back), each for `windowSeconds` after that event",
    section: "SHP §8.3",
    source: ["audit"],
    cadence: ON_TICK,
    bucket: "tenths",
    columns: ["auditsPassed", "auditsRolledBack"],
    value: ({ agent }) =>
      share(BigInt(agent.auditsPassed), BigInt(agent.auditsPassed + agent.auditsRolledBack)),
    numerator: (it) => String(it.auditsPassed),
    denominator: (it) => String(it.auditsPassed + it.auditsRolledBack),
  }),
  audit_coverage: field({
    type: "rate",
    description: "The share of its hires of 30 days that may be audited or were audited.",
    formula: "hires that became eligible for an audit / hires, undampened",
    section: "SHP §8.3",
    source: ["audit", "registry"],
    cadence: ON_TICK,
    bucket: "tenths",
    columns: ["windowAuditable", "windowHires"],
    value: ({ agent }) => share(BigInt(agent.windowAuditable), BigInt(agent.windowHires)),
    numerator: (it) => String(it.windowAuditable),
    denominator: (it) => String(it.windowHires),
  }),
  audits_eligible: audits("auditsEligible", "that became eligible for an audit"),
  audits_drawn: audits("auditsDrawn", "that were drawn for an audit"),
  audits_undisclosed: audits(
    "auditsUndisclosed",
    "that were drawn and failed because it did not disclose its work",
  ),
  refund_rate: field({
    type: "rate",
    description: "The share of its hires by platform escrow that was refunded, by weight.",
    formula: "Σw of refunded and timed-out hires / Σw of hires over an escrow",
    ...onChain,
    bucket: "tenths",
    columns: ["refundedWeight", "escrowWeight"],
    value: ({ agent }) => ratio(agent.refundedWeight, agent.escrowWeight),
    numerator: (it) => it.refundedWeight,
    denominator: (it) => it.escrowWeight,
    counts: { window, hires: "escrow" },
  }),
  dispute_rate: field({
    type: "rate",
    description: "The share of its hires that an audit found bad, by weight.",
    formula: "Σw of hires that an audit found bad / Σw of all hires",
    section: "SHP §9.2",
    source: ["audit"],
    cadence: ON_TICK,
    bucket: "tenths",
    columns: ["auditDisputedWeight", "windowWeight"],
    value: ({ agent }) => ratio(agent.auditDisputedWeight, agent.windowWeight),
    numerator: (it) => it.auditDisputedWeight,
    denominator: (it) => it.windowWeight,
    counts: { window, hires: "all" },
  }),
  claim_status: field({
    type: "text",
    description: "unclaimed, claimed or verified: whether a human has proved to own it.",
    formula: "the latest claim of an attestor; unclaimed without one",
    ...claim,
    columns: ["claimStatus"],
    value: ({ agent }) => agent.claimStatus,
  }),
  claimed: field({
    type: "flag",
    description: "Whether its claim status is claimed or verified.",
    formula: "whether `claim_status` is not unclaimed",
    ...claim,
    columns: ["claimStatus"],
    value: ({ agent }) => agent.claimStatus !== "unclaimed",
  }),
  trust_tier: field({
    type: "count",
    description: "Its trust tier: 0, 1 or 2.",
    formula:
      "2: successes, success_rate, capabilities and buyers reach the parameters tier2…; kept while success_rate reaches its parameter. Else 1 with a verified claim, else 0: see section 7 and Agent.tierChanges",
    section: "SHP §4.3",
    source: ["receipt", "on-chain", "registry"],
    cadence: ON_TICK,
    columns: ["trustTier"],
    value: ({ agent }) => agent.trustTier,
    numerator: (it) => it.successWeight,
    denominator: (it) => it.ratedWeight,
    counts: { window, hires: "rated" },
  }),
  hires_bought: field({
    type: "count",
    description: "The number of its hires as a buyer.",
    formula: "as a buyer: number of hires",
    ...onChain,
    bucket: "powerOfTen",
    columns: ["bought"],
    value: ({ agent }) => agent.bought,
    numerator: (it) => String(it.bought),
    counts: { window, hires: "all", side: "buyer" },
  }),
  silent_timeout_rate: field({
    type: "rate",
    description: "As a buyer: the share of its escrow hires that timed out after delivery.",
    formula: "as a buyer: escrow hires left to time out after delivery / escrow hires",
    ...onChain,
    bucket: "tenths",
    columns: ["silentTimeouts", "escrowBought"],
    value: ({ agent }) => share(BigInt(agent.silentTimeouts), BigInt(agent.escrowBought)),
    numerator: (it) => String(it.silentTimeouts),
    denominator: (it) => String(it.escrowBought),
    counts: { window, hires: "escrow", side: "buyer" },
  }),
  false_refunds: field({
    type: "count",
    description: "As a buyer: refunds after delivery, of 30 days, for which an audit found good work.",
    formula:
      "as a buyer: hires that it took back after delivery and whose audit passed, for `windowSeconds` from then on; without hires of which its telemetry had said that nothing came",
    section: "SHP §8.3",
    source: ["on-chain", "audit"],
    cadence: ON_TICK,
    bucket: "powerOfTen",
    columns: ["falseRefunds"],
    value: ({ agent }) => agent.falseRefunds,
    numerator: (it) => String(it.falseRefunds),
  }),
  refund_after_delivery_rate: field({
    type: "rate",
    description: "As a buyer: the share of its escrow hires whose money it took back after delivery.",
    formula: "as a buyer: escrow hires whose money it took back after delivery / escrow hires",
    ...onChain,
    bucket: "tenths",
    columns: ["refundsAfterDelivery", "escrowBought"],
    value: ({ agent }) => share(BigInt(agent.refundsAfterDelivery), BigInt(agent.escrowBought)),
    numerator: (it) => String(it.refundsAfterDelivery),
    denominator: (it) => String(it.escrowBought),
    counts: { window, hires: "escrow", side: "buyer" },
  }),
};

function percentile(
  column: "latencyP50" | "latencyP95" | "latencyP99",
  part: number,
): PublishedField<"latency"> {
  return field({
    type: "latency",
    description: `The latency that ${part}% of its hires of 30 days do not exceed (nearest rank).`,
    formula: `nearest rank: the smallest known latency that ${part}% do not exceed, undampened`,
    ...latency,
    bucket: "powerOfTwo",
    columns: [column],
    value: ({ agent }) => agent[column],
    counts: timed,
  });
}

function audits(
  column: "auditsEligible" | "auditsDrawn" | "auditsUndisclosed",
  which: string,
): PublishedField<"count"> {
  return field({
    type: "count",
    description: `The number of its hires ${which}, of all time.`,
    formula: `hires ${which}, counted or not, all time`,
    section: "SHP §8.3",
    source: ["audit"],
    cadence: ON_TICK,
    bucket: "powerOfTen",
    columns: [column],
    value: ({ agent }) => agent[column],
    numerator: (it) => String(it[column]),
  });
}

export type FieldName = keyof typeof publishedFields;

/** The names of all fields, as a snapshot, REST and the digest have them. */
export const fieldNames = Object.keys(publishedFields) as FieldName[];

/** A published field of any type. */
export function publishedFieldOf(name: FieldName): PublishedField {
  return publishedFields[name];
}

/** The name of a field in GraphQL: `last_30d_hire_count` is `last30dHireCount`. */
export function camelName(name: FieldName): string {
  return name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
