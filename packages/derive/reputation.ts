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
