import { formatUsdc } from "tallystick-protocol/amount";
import { bucket, bucketed } from "./buckets.ts";
import { parseRational, type Rational, roundHalfUp, toNumber } from "./rational.ts";
import type { Reputation } from "./reputation.ts";
import type { Row } from "./tables.ts";

/** Fields for which the agent's own row and its prices are enough. */
export type OwnField = Exclude<keyof Reputation, "cluster_id" | "cluster_size">;

/** What a row of `capability` tells of an agent's prices. */
export type CapabilityPrice = Pick<Row<"capability">, "capability" | "medianPrice">;

/**
 * The fields of one agent, coarse when one of its live listings asks for private metrics.
 *
 * @param cluster the cluster of shared ownership it is in now, else the one of listings alike, else null
 * @param prices its rows of `capability`; those without hires in the window do not matter
 */
export function reputationOf(
  agent: Row<"agent">,
  cluster: Pick<Row<"cluster">, "id" | "size"> | null,
  prices: CapabilityPrice[],
): Reputation {
  const exact = {
    ...ownFields(agent, prices),
    cluster_id: cluster?.id ?? null,
    cluster_size: cluster?.size ?? 1,
  };
  return agent.privateListings > 0 ? bucketed(exact) : exact;
}

/** One field as {@link reputationOf} gives it. */
export function publishedField<F extends OwnField>(
  agent: Row<"agent">,
  field: F,
  prices: CapabilityPrice[] = [],
): Reputation[F] {
  const exact = rules[field](agent, prices);
  return agent.privateListings > 0 ? bucket(field, exact) : exact;
}

/** How each field comes from the agent's row, and from its prices. A reader of one field need not work out the others. */
const rules: { [F in OwnField]: (agent: Row<"agent">, prices: CapabilityPrice[]) => Reputation[F] } = {
  registered_block: (agent) => agent.registeredBlock,
  registered_time: (agent) => agent.registeredTime,
  success_rate: (agent) => rate(parseRational(agent.successWeight), parseRational(agent.ratedWeight)),
  avg_latency_ms: (agent) => share(agent.latencySum, BigInt(agent.latencies)),
  avg_latency_ms_p50: (agent) => agent.latencyP50,
  avg_latency_ms_p95: (agent) => agent.latencyP95,
  avg_latency_ms_p99: (agent) => agent.latencyP99,
  avg_cost_per_capability: (_, prices) => medianPrices(prices),
  last_24h_volume_usdc: (agent) => usdc(parseRational(agent.dayVolume)),
  last_30d_hire_count: (agent) => toNumber(parseRational(agent.windowWeight)),
  last_30d_hire_count_raw: (agent) => agent.windowHires,
  free_hires: (agent) => agent.freeHires,
  distinct_buyers: (agent) => agent.distinctBuyers,
  total_ratings: (agent) => agent.totalRatings,
  avg_stars: (agent) => (agent.avgStars === null ? null : toNumber(parseRational(agent.avgStars))),
  signals_tripped: (agent) => (agent.signalsTripped === "" ? [] : agent.signalsTripped.split(",")),
  audit_pass_rate: () => null,
  refund_rate: (agent) => rate(parseRational(agent.refundedWeight), parseRational(agent.escrowWeight)),
  dispute_rate: (agent) => rate(parseRational(agent.auditDisputedWeight), parseRational(agent.windowWeight)),
  claim_status: (agent) => agent.claimStatus,
  claimed: (agent) => agent.claimStatus !== "unclaimed",
  trust_tier: (agent) => agent.trustTier,
  hires_bought: (agent) => agent.bought,
  silent_timeout_rate: (agent) => share(BigInt(agent.silentTimeouts), BigInt(agent.escrowBought)),
  refund_after_delivery_rate: (agent) =>
    share(BigInt(agent.refundsAfterDelivery), BigInt(agent.escrowBought)),
};

const ownRules = Object.entries(rules);

function ownFields(agent: Row<"agent">, prices: CapabilityPrice[]): Pick<Reputation, OwnField> {
  return fieldsBy(ownRules, agent, prices) as Pick<Reputation, OwnField>;
}

/** In the order of RFC 8785. */
const leafRules = Object.entries({
  ...rules,
  first_clusters: (agent: Row<"agent">) => [agent.ownershipCluster, agent.fingerprintCluster],
}).sort(([a], [b]) => (a < b ? -1 : 1));

/**
 * The RFC 8785 text of an agent's leaf in the digest, `[address, fields]`. In it stand the ids of the clusters it joined
 * first instead of id and size of the current one, so that a merge does not touch every member; clusters have leaves of
 * their own.
 */
export function leafText(agent: Row<"agent">, prices: CapabilityPrice[]): string {
  return JSON.stringify([agent.id, fieldsBy(leafRules, agent, prices)]);
}

function fieldsBy(
  by: [name: string, rule: (agent: Row<"agent">, prices: CapabilityPrice[]) => unknown][],
  agent: Row<"agent">,
  prices: CapabilityPrice[],
): object {
  const fields: { [name: string]: unknown } = {};
  for (const [name, rule] of by) fields[name] = rule(agent, prices);
  return fields;
}

function medianPrices(prices: CapabilityPrice[]): { [capability: string]: string } {
  const known = prices.flatMap(({ capability, medianPrice }) =>
    medianPrice === null ? [] : [[capability, usdc(parseRational(medianPrice))] as const],
  );
  return Object.fromEntries(known.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Atomic units to USDC; a fraction of a unit is rounded half up. */
function usdc(atomic: Rational): string {
  return formatUsdc(roundHalfUp(atomic, 0));
}

function share(part: bigint, whole: bigint): number | null {
  return rate({ n: part, d: 1n }, { n: whole, d: 1n });
}

function rate(part: Rational, whole: Rational): number | null {
  return whole.n === 0n ? null : toNumber({ n: part.n * whole.d, d: part.d * whole.n });
}
