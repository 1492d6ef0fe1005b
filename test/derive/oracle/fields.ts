import type { Reputation } from "tallystick-derive/reputation";
import type { Params } from "tallystick-protocol/records/params";
import { falseRefundsOf } from "./auditContests.ts";
import { firstCluster, rootOf } from "./clusters.ts";
import { coarse } from "./coarse.ts";
import type { Facts, Hire, TierFigures } from "./facts.ts";
import { independenceOf } from "./families.ts";
import { components, fingerprintGroups, ownershipGroups, signalsOf } from "./groups.ts";

const DAY = 86_400;
/** All weights are multiples of one small unit, so sums are plain integers. Every cluster size up to 25 divides this number. */
const UNIT = 26_771_144_400n;

const weightOf = (hire: { size: number }) => UNIT / BigInt(hire.size);
const sum = (values: bigint[]) => values.reduce((a, b) => a + b, 0n);

/** Rounds an exact fraction half up at nine decimals. */
function rounded(part: bigint, whole: bigint): number {
  const scaled = (2n * part * 1_000_000_000n + whole) / (2n * whole);
  return Number(scaled) / 1e9;
}

const rate = (part: bigint, whole: bigint) => (whole === 0n ? null : rounded(part, whole));

function usdc(atomic: bigint): string {
  const digits = atomic.toString().padStart(7, "0");
  const fraction = digits.slice(-6).replace(/0{1,4}$/, "");
  return `${digits.slice(0, -6)}.${fraction}`;
}

/** An agent's fields, the members of its cluster by definition, and the first cluster of each kind that the agent joined. */
export type Expected = Reputation & { cluster: string[] | null; first_clusters: (string | null)[] };

export function inWindow(facts: Facts, it: { leavesWindow: number }): boolean {
  return facts.asOf < it.leavesWindow;
}

/** Computes every field of one agent directly from its definition (SHP §9.2), over all hires. */
export function fieldsOf(facts: Facts, address: string): Expected {
  const counted = facts.hires.filter((it) => !it.isCanary);
  const sold = counted.filter((it) => it.seller === address && inWindow(facts, it));
  const bought = counted.filter((it) => it.buyer === address && inWindow(facts, it));
  const weight = (hires: Hire[]) => sum(hires.map(weightOf));
  const rated = sold.filter((it) => it.outcome !== "neutral");
  const inEscrow = sold.filter((it) => it.escrow !== null);
  const boughtInEscrow = BigInt(bought.filter((it) => it.escrow !== null).length);
  const latencies = sold.flatMap((it) => it.latency ?? []).sort((a, b) => a - b);
  const percentile = (percent: number) =>
    latencies[Math.ceil((latencies.length * percent) / 100) - 1] ?? null;
  const today = counted.filter((it) => it.seller === address && facts.asOf < it.leavesDay);
  const volume = sum(today.map((it) => weightOf(it) * it.price));
  const stars = facts.ratings.filter(
    (it) =>
      it.side === "buyer" &&
      it.receipt.agent === address &&
      it.size !== null &&
      !it.receipt.hire?.isCanary &&
      it.receipt.hire?.outcome !== "neutral",
  );
  const ownership = ownershipGroups(facts).find((it) => it.has(address));
  const fingerprint = fingerprintGroups(facts).find((it) => it.has(address));
  const cluster = ownership ?? fingerprint ?? null;
  const first = [firstCluster(facts, address, "ownership"), firstCluster(facts, address, "fingerprint")];
  const named = first.find((it) => it !== null);
  const registered = facts.agents.get(address);

  const exact: Expected = {
    registered_block: registered?.block ?? -1,
    registered_time: registered?.time ?? -1,
    success_rate: rate(weight(rated.filter((it) => it.outcome === "success")), weight(rated)),
    avg_latency_ms: rate(sum(latencies.map(BigInt)), BigInt(latencies.length)),
    avg_latency_ms_p50: percentile(50),
    avg_latency_ms_p95: percentile(95),
    avg_latency_ms_p99: percentile(99),
    avg_cost_per_capability: medians(sold),
    last_24h_volume_usdc: usdc((2n * volume + UNIT) / (2n * UNIT)),
    last_30d_hire_count: rounded(weight(sold), UNIT),
    last_30d_hire_count_raw: sold.length,
    free_hires: facts.receipts.filter((it) => it.agent === address && it.status === "free").length,
    distinct_buyers: distinctParties(
      partiesOf(facts),
      sold.map((it) => it.buyer),
    ),
    ...independenceOf(facts, address, sold, usdc),
    total_ratings: stars.length,
    avg_stars: averageStars(
      facts,
      stars.filter((it) => inWindow(facts, it)),
    ),
    cluster_id: named === undefined ? null : rootOf(named).id,
    first_clusters: first.map((it) => it?.id ?? null),
    cluster_size: cluster?.size ?? 1,
    cluster: cluster === null ? null : [...cluster].sort(),
    signals_tripped: signalsOf(facts, address),
    audit_pass_rate: rate(
      BigInt(auditsOf(facts, address, "passed")),
      BigInt(auditsOf(facts, address, "passed") + auditsOf(facts, address, "rolledBack")),
    ),
    audit_coverage: rate(
      BigInt(sold.filter((it) => facts.audits.all.some(({ id }) => id === it.id)).length),
      BigInt(sold.length),
    ),
    audits_eligible: shownAudits(facts, address).length,
    audits_drawn: shownAudits(facts, address).filter((it) => it.drawn !== null).length,
    audits_undisclosed: shownAudits(facts, address).filter((it) => it.reason === "undisclosed").length,
    false_refunds: falseRefundsOf(facts, address),
    refund_rate: rate(weight(inEscrow.filter((it) => it.refunded)), weight(inEscrow)),
    dispute_rate: rate(weight(sold.filter((it) => it.byAudit)), weight(sold)),
    claim_status: facts.claims.get(address) ?? "unclaimed",
    claimed: (facts.claims.get(address) ?? "unclaimed") !== "unclaimed",
    trust_tier: registered?.tier ?? 0,
    hires_bought: bought.length,
    silent_timeout_rate: rate(BigInt(bought.filter((it) => it.silentTimeout).length), boughtInEscrow),
    refund_after_delivery_rate: rate(
      BigInt(bought.filter((it) => it.refundAfterDelivery).length),
      boughtInEscrow,
    ),
  };
  const isPrivate = facts.listings.some((it) => it.agent === address && it.live && it.private);
  return isPrivate ? { ...exact, ...coarse(exact) } : exact;
}

/** @param parties the agents that count as one buyer */
export function tierFiguresOf(facts: Facts, address: string, parties: Set<string>[]): TierFigures {
  const sold = facts.hires.filter((it) => it.seller === address && inWindow(facts, it) && !it.isCanary);
  return {
    successes: sum(sold.filter((it) => it.outcome === "success").map(weightOf)),
    rated: sum(sold.filter((it) => it.outcome !== "neutral").map(weightOf)),
    isVerified: facts.claims.get(address) === "verified",
    capabilities: new Set(sold.flatMap((it) => it.capability ?? [])).size,
    buyers: distinctParties(
      parties,
      sold.map((it) => it.buyer),
    ),
  };
}

/** Promotion and revocation (SHP §4.3). */
export function tierOf(params: Params, figures: TierFigures, current: number): number {
  const { successes, rated, isVerified, capabilities, buyers } = figures;
  const { numerator, denominator } = params.tier2MinSuccessRate;
  const rateHolds = BigInt(denominator) * successes >= BigInt(numerator) * rated;
  const lowerTier = isVerified ? 1 : 0;
  const { tier2MinSuccesses: most, tier2MinCapabilities: breadth, tier2RequiresClaim } = params;
  if (!rateHolds || (tier2RequiresClaim && !isVerified)) return lowerTier;
  if (current === 2) return 2;
  if (successes < BigInt(most) * UNIT || capabilities < breadth) return lowerTier;
  return buyers >= params.tier2MinBuyers ? 2 : lowerTier;
}

function medians(sold: Hire[]): { [capability: string]: string } {
  const medianOf = (amounts: bigint[]) => {
    const sorted = amounts.sort((a, b) => (a < b ? -1 : 1));
    const [low = 0n, high = 0n] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
    return usdc((low + high + 1n) / 2n);
  };
  const described = sold.filter((it) => it.capability !== null);
  return Object.fromEntries(
    [...Map.groupBy(described, (it) => it.capability ?? "")]
      .map(([capability, hires]) => [capability, medianOf(hires.map((it) => it.amount))] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** The agents that count as one buyer, because clusters join them. */
export function partiesOf(facts: Facts): Set<string>[] {
  return components([...ownershipGroups(facts), ...fingerprintGroups(facts)]);
}

function distinctParties(parties: Set<string>[], buyers: string[]): number {
  const names = buyers.map((buyer) => {
    const at = parties.findIndex((it) => it.has(buyer));
    return at < 0 ? buyer : `party ${at}`;
  });
  return new Set(names).size;
}

/** Σ w·q^d·stars / Σ w·q^d with integer arithmetic. The days d count back from the last rating's day. */
function averageStars(
  facts: Facts,
  ratings: { stars: number; time: number; size: number | null }[],
): number | null {
  const days = ratings.map((it) => Math.floor(it.time / DAY));
  const last = Math.max(0, ...days);
  const { numerator, denominator } = facts.params.starDecay;
  const scale = BigInt(denominator) ** BigInt(last - Math.min(last, ...days));
  const weights = ratings.map((it, n) => {
    const age = BigInt(last - (days[n] ?? last));
    return (weightOf({ size: it.size ?? 1 }) * BigInt(numerator) ** age * scale) / BigInt(denominator) ** age;
  });
  return rate(sum(weights.map((it, n) => it * BigInt(ratings[n]?.stars ?? 0))), sum(weights));
}

/** The audits in a seller's figures: the audit of each hire that was not arranged. */
function shownAudits({ audits }: Facts, seller: string) {
  return audits.all.filter((it) => it.seller === seller && it.cause !== "history" && it.canary === null);
}

/** The number of a seller's audits that have this status now. */
function auditsOf(facts: Facts, seller: string, as: "passed" | "rolledBack"): number {
  return facts.audits.all.filter(
    (it) => it.seller === seller && it.counts?.as === as && facts.asOf < it.counts.until,
  ).length;
}
