import { formatUsdc } from "../../../protocol/amount.ts";
import { bucketed } from "./buckets.ts";
import { compare, parseRational, type Rational, rational, roundHalfUp, toNumber, ZERO } from "./rational.ts";
import type { Row } from "./tables.ts";

/** An agent's public fields, as of the last tick (SHP §9.2). Rates and averages are null when there is nothing to divide. */
export type Reputation = {
  registered_block: number;
  registered_time: number;
  success_rate: number | null;
  avg_latency_ms: number | null;
  avg_latency_ms_p50: number | null;
  avg_latency_ms_p95: number | null;
  avg_latency_ms_p99: number | null;
  avg_cost_per_capability: { [capability: string]: string };
  last_24h_volume_usdc: string;
  last_30d_hire_count: number;
  last_30d_hire_count_raw: number;
  free_hires: number;
  distinct_buyers: number;
  total_ratings: number;
  avg_stars: number | null;
  cluster_id: string | null;
  cluster_size: number;
  signals_tripped: string[];
  /** Null until verdicts of audits are recorded. */
  audit_pass_rate: number | null;
  refund_rate: number | null;
  dispute_rate: number | null;
  claim_status: string;
  claimed: boolean;
  trust_tier: number;
  hires_bought: number;
  silent_timeout_rate: number | null;
  refund_after_delivery_rate: number | null;
};

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

/**
 * What stands in an agent's leaf of the digest: the ids of the clusters it joined first instead of id and size of the
 * current one, so that a merge does not touch every member; clusters have leaves of their own.
 */
export function digestFields(agent: Row<"agent">, prices: CapabilityPrice[]): object {
  return { ...ownFields(agent, prices), first_clusters: [agent.ownershipCluster, agent.fingerprintCluster] };
}

function ownFields(agent: Row<"agent">, prices: CapabilityPrice[]) {
  const fraction = (text: string) => parseRational(text);
  return {
    registered_block: agent.registeredBlock,
    registered_time: agent.registeredTime,
    success_rate: rate(fraction(agent.successWeight), fraction(agent.ratedWeight)),
    avg_latency_ms: rate(rational(agent.latencySum), rational(BigInt(agent.latencies))),
    avg_latency_ms_p50: agent.latencyP50,
    avg_latency_ms_p95: agent.latencyP95,
    avg_latency_ms_p99: agent.latencyP99,
    avg_cost_per_capability: medianPrices(prices),
    last_24h_volume_usdc: usdc(fraction(agent.dayVolume)),
    last_30d_hire_count: toNumber(fraction(agent.windowWeight)),
    last_30d_hire_count_raw: agent.windowHires,
    free_hires: agent.freeHires,
    distinct_buyers: agent.distinctBuyers,
    total_ratings: agent.totalRatings,
    avg_stars: agent.avgStars === null ? null : toNumber(fraction(agent.avgStars)),
    signals_tripped: agent.signalsTripped === "" ? [] : agent.signalsTripped.split(","),
    audit_pass_rate: null,
    refund_rate: rate(fraction(agent.refundedWeight), fraction(agent.escrowWeight)),
    dispute_rate: rate(fraction(agent.auditDisputedWeight), fraction(agent.windowWeight)),
    claim_status: agent.claimStatus,
    claimed: agent.claimStatus !== "unclaimed",
    trust_tier: agent.trustTier,
    hires_bought: agent.bought,
    silent_timeout_rate: share(agent.silentTimeouts, agent.escrowBought),
    refund_after_delivery_rate: share(agent.refundsAfterDelivery, agent.escrowBought),
  };
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

function share(part: number, whole: number): number | null {
  return rate(rational(BigInt(part)), rational(BigInt(whole)));
}

function rate(part: Rational, whole: Rational): number | null {
  return compare(whole, ZERO) === 0 ? null : toNumber(rational(part.n * whole.d, part.d * whole.n));
}
