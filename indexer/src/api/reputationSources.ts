import type { Reputation } from "tallystick-derive/reputation";

/** Where a field comes from, and how soon a change shows (SHP §9.2). */
export type FieldSource = { source: string[]; cadence: string };

const ON_ANCHOR = "with the anchor of the record, or the payment";
const ON_TICK = "with the anchor or payment; hires leave the window at the next tick";

const onChain = { source: ["on-chain", "receipt"], cadence: ON_TICK };
const outcome = { source: ["on-chain", "receipt", "telemetry", "audit"], cadence: ON_TICK };
const latency = { source: ["receipt", "telemetry"], cadence: ON_TICK };
const cluster = { source: ["on-chain", "registry"], cadence: "with the transfer, registration or listing" };
const registration = { source: ["on-chain", "registry"], cadence: "once" };
const claim = { source: ["registry"], cadence: ON_ANCHOR };
const escrow = { source: ["on-chain", "receipt"], cadence: ON_TICK };

/** The published source and cadence of every reputation field. */
export const reputationSources: { [field in keyof Reputation]: FieldSource } = {
  registered_block: registration,
  registered_time: registration,
  success_rate: outcome,
  avg_latency_ms: latency,
  avg_latency_ms_p50: latency,
  avg_latency_ms_p95: latency,
  avg_latency_ms_p99: latency,
  avg_cost_per_capability: { source: ["on-chain"], cadence: ON_TICK },
  last_24h_volume_usdc: { source: ["on-chain"], cadence: ON_TICK },
  last_30d_hire_count: onChain,
  last_30d_hire_count_raw: onChain,
  free_hires: { source: ["receipt"], cadence: ON_ANCHOR },
  distinct_buyers: onChain,
  total_ratings: { source: ["receipt"], cadence: ON_ANCHOR },
  avg_stars: { source: ["receipt"], cadence: ON_TICK },
  cluster_id: cluster,
  cluster_size: cluster,
  signals_tripped: cluster,
  audit_pass_rate: { source: ["audit"], cadence: ON_ANCHOR },
  refund_rate: escrow,
  dispute_rate: { source: ["audit"], cadence: ON_TICK },
  claim_status: claim,
  claimed: claim,
  trust_tier: { source: ["receipt", "on-chain", "registry"], cadence: ON_TICK },
  hires_bought: onChain,
  silent_timeout_rate: escrow,
  refund_after_delivery_rate: escrow,
};
