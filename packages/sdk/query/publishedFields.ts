// Generated from packages/derive/publishedFields.ts: npm run generate:fields.

/** An agent's public fields, as of the last tick (SHP §9.2). Rates are null when there is nothing to divide by. */
export type PublishedFields = {
  /** Where it first appeared. (block number) */
  registered_block: number;
  /** When it first appeared. (unix seconds) */
  registered_time: number;
  /** Successes of rated hires, weighted, 30 days. (share, 0 to 1) */
  success_rate: number | null;
  /** Mean, 30 days. (ms) */
  avg_latency_ms: number | null;
  /** Nearest rank: 50% of its hires do not take longer, 30 days. (ms) */
  avg_latency_ms_p50: number | null;
  /** Nearest rank: 95% of its hires do not take longer, 30 days. (ms) */
  avg_latency_ms_p95: number | null;
  /** Nearest rank: 99% of its hires do not take longer, 30 days. (ms) */
  avg_latency_ms_p99: number | null;
  /** The median of what was paid for each capability. (USDC) */
  avg_cost_per_capability: { [capability: string]: string };
  /** Price of its hires, weighted, 24 hours. (USDC) */
  last_24h_volume_usdc: string;
  /** Each hire counts 1, or 1/size of the cluster that buyer and seller shared when it was counted. (sum of weights) */
  last_30d_hire_count: number;
  /** Its hires, each counted once. (whole number) */
  last_30d_hire_count_raw: number;
  /** Free calls that their buyers signed, of all time. (whole number) */
  free_hires: number;
  /** A cluster is one. (whole number) */
  distinct_buyers: number;
  /** Families of wallets that bought, by whose money they began with; not its own. (whole number) */
  independent_buyers: number;
  /** Of those, families of 30 days that buy from three families of sellers. (whole number) */
  established_buyers: number;
  /** Mean over independent families of each one's share of successes: one family, one vote. (share, 0 to 1) */
  independent_success_rate: number | null;
  /** What independent families paid and did not get back from its side. (USDC) */
  kept_usdc: string;
  /** Escrow fees of its hires that went to published recipients: they cannot come back. (USDC) */
  fees_paid_usdc: string;
  /** Share of the direct payments to it that it wrote receipts for; null without any. (share, 0 to 1) */
  receipt_coverage: number | null;
  /** Authorized payments to it that no receipt claimed within 24 hours. (whole number) */
  unreceipted_payments: number;
  /** What those payments are worth. (USDC) */
  unreceipted_usdc: string;
  /** Deposits for it that went back to their buyers without an act of its own. (whole number) */
  unanswered_escrows: number;
  /** Hires that their buyers took their money back of after delivery was marked. (whole number) */
  refunds_contested: number;
  /** How many families of buyers did so. (whole number) */
  refunds_contested_families: number;
  /** By buyers, of all time. (whole number) */
  total_ratings: number;
  /** Newer days weigh more: e^(-0.1) for each day of age. (1 to 5) */
  avg_stars: number | null;
  /** The cluster of shared ownership it is in, else the one of listings alike. (id) */
  cluster_id: string | null;
  /** Members of that cluster; 1 without one. (whole number) */
  cluster_size: number;
  /** Why it is in its clusters. (list of texts) */
  signals_tripped: string[];
  /** Passed of audited; null until an audit was passed, or its operator rolled a hire back. (share, 0 to 1) */
  audit_pass_rate: number | null;
  /** Share of its hires that may be audited, or were, 30 days. (share, 0 to 1) */
  audit_coverage: number | null;
  /** Its hires that became eligible for an audit, of all time. (whole number) */
  audits_eligible: number;
  /** Its hires that were drawn for an audit, of all time. (whole number) */
  audits_drawn: number;
  /** Its hires that were drawn and failed since it said nothing of its work, of all time. (whole number) */
  audits_undisclosed: number;
  /** Refunded share of its hires over platform escrow. (share, 0 to 1) */
  refund_rate: number | null;
  /** Share of its hires that an audit found bad. (share, 0 to 1) */
  dispute_rate: number | null;
  /** unclaimed, claimed or verified: whether a human showed to own it. (text) */
  claim_status: string;
  /** Whether claim_status is not unclaimed. (true or false) */
  claimed: boolean;
  /** 0, 1 or 2. (whole number) */
  trust_tier: number;
  /** As a buyer. (whole number) */
  hires_bought: number;
  /** As a buyer: escrow hires left to time out after delivery, of all its escrow hires. (share, 0 to 1) */
  silent_timeout_rate: number | null;
  /** As a buyer: refunds after delivery behind which an audit found good work, 30 days. (whole number) */
  false_refunds: number;
  /** As a buyer: escrow hires refunded after delivery, of all its escrow hires. (share, 0 to 1) */
  refund_after_delivery_rate: number | null;
};
