import { formatUsdc } from "../../../protocol/amount.ts";
import { compare, parseRational, type Rational, rational, roundHalfUp, toNumber, ZERO } from "./rational.ts";
import type { Row } from "./tables.ts";

/** An agent's public fields, as of the last tick (SHP §9.2). Rates are null when there is nothing to divide by. */
export type Reputation = {
  registered_block: number;
  registered_time: number;
  trust_tier: number;
  success_rate: number | null;
  last_30d_hire_count: number;
  last_30d_hire_count_raw: number;
  last_24h_volume_usdc: string;
  refund_rate: number | null;
  free_hires: number;
  distinct_buyers: number;
  hires_bought: number;
  silent_timeout_rate: number | null;
  refund_after_delivery_rate: number | null;
  cluster_id: string | null;
  cluster_size: number;
  signals_tripped: string[];
};

/** The fields of one agent; `cluster` is the one it is in now, or null. */
export function reputationOf(
  agent: Row<"agent">,
  cluster: Pick<Row<"cluster">, "id" | "size"> | null,
): Reputation {
  return {
    ...ownFields(agent),
    cluster_id: cluster?.id ?? null,
    cluster_size: cluster?.size ?? 1,
  };
}

/**
 * What stands in an agent's leaf of the digest: the id of the cluster it joined first instead of id and size of the
 * current one, so that a merge does not touch every member; clusters have leaves of their own.
 */
export function digestFields(agent: Row<"agent">): object {
  return { ...ownFields(agent), first_cluster: agent.cluster };
}

function ownFields(agent: Row<"agent">) {
  return {
    registered_block: agent.registeredBlock,
    registered_time: agent.registeredTime,
    trust_tier: agent.trustTier,
    success_rate: rate(parseRational(agent.successWeight), parseRational(agent.ratedWeight)),
    last_30d_hire_count: toNumber(parseRational(agent.windowWeight)),
    last_30d_hire_count_raw: agent.windowHires,
    last_24h_volume_usdc: formatUsdc(roundHalfUp(parseRational(agent.dayVolume), 0)),
    refund_rate: rate(parseRational(agent.refundedWeight), parseRational(agent.escrowWeight)),
    free_hires: agent.freeHires,
    distinct_buyers: agent.distinctBuyers,
    hires_bought: agent.bought,
    silent_timeout_rate: share(agent.silentTimeouts, agent.escrowBought),
    refund_after_delivery_rate: share(agent.refundsAfterDelivery, agent.escrowBought),
    signals_tripped: agent.signalsTripped === "" ? [] : agent.signalsTripped.split(","),
  };
}

function share(part: number, whole: number): number | null {
  return rate(rational(BigInt(part)), rational(BigInt(whole)));
}

function rate(part: Rational, whole: Rational): number | null {
  return compare(whole, ZERO) === 0 ? null : toNumber(rational(part.n * whole.d, part.d * whole.n));
}
