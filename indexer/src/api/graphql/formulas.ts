import type { Reputation } from "tallystick-derive/reputation";
import type { Row } from "tallystick-derive/tables";

/** Rises with every change of a rule below; the digests of two versions cannot be compared. */
export const FORMULA_VERSION = 1;

type Formula = {
  /** In the words of docs/specification.md, where each is defined. */
  formula: string;
  /** Exact numbers, as the derivation keeps them. */
  numerator?: (agent: Row<"agent">) => string;
  denominator?: (agent: Row<"agent">) => string;
  /** The parameter with the length of its window. */
  window?: "windowSeconds" | "volumeWindowSeconds";
  /** Which hires of the window it counts, and on which side the agent stands in them. */
  hires?: "all" | "rated" | "escrow" | "timed" | "priced";
  side?: "seller" | "buyer";
  ratings?: "window" | "all";
};

const window = "windowSeconds";
const timed = { window, hires: "timed" } as const;

/** The rule behind every field of the reputation. w is a hire's weight: 1, or 1/size of the cluster its sides shared. */
export const formulas: { [field in keyof Reputation]: Formula } = {
  registered_block: {
    formula: "block of its first appearance: a listing, a counted hire or an escrow deposit",
  },
  registered_time: { formula: "time of its first appearance" },
  success_rate: {
    formula: "Σ w of successes / Σ w of all hires but neutral ones",
    numerator: (it) => it.successWeight,
    denominator: (it) => it.ratedWeight,
    window,
    hires: "rated",
  },
  avg_latency_ms: {
    formula: "Σ latency / number of hires whose latency is known; the buyer's measure before the seller's",
    numerator: (it) => String(it.latencySum),
    denominator: (it) => String(it.latencies),
    ...timed,
  },
  avg_latency_ms_p50: { formula: "nearest rank: the smallest latency that 50% do not exceed", ...timed },
  avg_latency_ms_p95: { formula: "nearest rank: the smallest latency that 95% do not exceed", ...timed },
  avg_latency_ms_p99: { formula: "nearest rank: the smallest latency that 99% do not exceed", ...timed },
  avg_cost_per_capability: {
    formula: "per capability the median of what buyers put up; the mean of the middle two",
    window,
    hires: "priced",
  },
  last_24h_volume_usdc: {
    formula: "Σ w · price over 24 hours, in atomic units",
    numerator: (it) => it.dayVolume,
    window: "volumeWindowSeconds",
    hires: "all",
  },
  last_30d_hire_count: {
    formula: "Σ w of all hires",
    numerator: (it) => it.windowWeight,
    window,
    hires: "all",
  },
  last_30d_hire_count_raw: {
    formula: "number of hires",
    numerator: (it) => String(it.windowHires),
    window,
    hires: "all",
  },
  free_hires: {
    formula: "free calls that their buyers signed, one for each buyer: its receipts with the status FREE",
    numerator: (it) => String(it.freeHires),
  },
  distinct_buyers: {
    formula: "buyers of its hires; a cluster is one",
    numerator: (it) => String(it.distinctBuyers),
    window,
    hires: "all",
  },
  total_ratings: {
    formula: "ratings by buyers of counted hires, of all time",
    numerator: (it) => String(it.totalRatings),
    ratings: "all",
  },
  avg_stars: {
    formula: "Σ w·q^d·stars / Σ w·q^d over ratings of the window, d days old, q = params.starDecay",
    window,
    ratings: "window",
  },
  cluster_id: {
    formula: "the cluster of shared ownership it is in, else the one of listings alike: see Agent.cluster",
  },
  cluster_size: { formula: "members of that cluster; 1 without one" },
  signals_tripped: { formula: "why it is in its clusters: see fundingGraph" },
  audit_pass_rate: { formula: "audits passed / audits" },
  refund_rate: {
    formula: "Σ w of refunded hires / Σ w of hires over an escrow",
    numerator: (it) => it.refundedWeight,
    denominator: (it) => it.escrowWeight,
    window,
    hires: "escrow",
  },
  dispute_rate: {
    formula: "Σ w of hires that an audit found bad / Σ w of all hires",
    numerator: (it) => it.auditDisputedWeight,
    denominator: (it) => it.windowWeight,
    window,
    hires: "all",
  },
  claim_status: { formula: "the latest claim of an attestor; unclaimed without one" },
  claimed: { formula: "whether claim_status is not unclaimed" },
  trust_tier: {
    formula:
      "2: successes, success_rate, capabilities and buyers reach the parameters tier2…; kept while success_rate does. Else 1 " +
      "with a verified claim, else 0: see Agent.tierChanges",
    numerator: (it) => it.successWeight,
    denominator: (it) => it.ratedWeight,
    window,
    hires: "rated",
  },
  hires_bought: {
    formula: "number of hires as the buyer",
    numerator: (it) => String(it.bought),
    window,
    hires: "all",
    side: "buyer",
  },
  silent_timeout_rate: {
    formula: "escrow hires left to time out after delivery / escrow hires, as the buyer",
    numerator: (it) => String(it.silentTimeouts),
    denominator: (it) => String(it.escrowBought),
    window,
    hires: "escrow",
    side: "buyer",
  },
  refund_after_delivery_rate: {
    formula: "escrow hires refunded after delivery / escrow hires, as the buyer",
    numerator: (it) => String(it.refundsAfterDelivery),
    denominator: (it) => String(it.escrowBought),
    window,
    hires: "escrow",
    side: "buyer",
  },
};
