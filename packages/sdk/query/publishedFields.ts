// Generated from packages/derive/publishedFields.ts: npm run generate:fields.

/** An agent's public fields, as of the last tick (SHP §9.2). Rates are null when there is nothing to divide by. */
export type PublishedFields = {
  /** The block in which the agent first appeared. (block number) */
  registered_block: number;
  /** The time at which the agent first appeared. (unix seconds) */
  registered_time: number;
  /** The share of successes among its rated hires of 30 days, by weight. (share, 0 to 1) */
  success_rate: number | null;
  /** The mean latency of its hires of 30 days. (ms) */
  avg_latency_ms: number | null;
  /** The latency that 50% of its hires of 30 days do not exceed (nearest rank). (ms) */
  avg_latency_ms_p50: number | null;
  /** The latency that 95% of its hires of 30 days do not exceed (nearest rank). (ms) */
  avg_latency_ms_p95: number | null;
  /** The latency that 99% of its hires of 30 days do not exceed (nearest rank). (ms) */
  avg_latency_ms_p99: number | null;
  /** The median price that was paid for each capability. (USDC) */
  avg_cost_per_capability: { [capability: string]: string };
  /** The prices of its hires of 24 hours, by weight. (USDC) */
  last_24h_volume_usdc: string;
  /** Its hires of 30 days, by weight: a hire weighs 1, or 1/size of the cluster that buyer and seller shared when it was counted. (sum of weights) */
  last_30d_hire_count: number;
  /** Its hires of 30 days, each counted once. (whole number) */
  last_30d_hire_count_raw: number;
  /** Free calls with their buyers' signature, of all time. (whole number) */
  free_hires: number;
  /** The number of different buyers of its hires of 30 days. A cluster counts as one buyer. (whole number) */
  distinct_buyers: number;
  /** The number of independent buyers: funding families of wallets that bought in 30 days, without its own family. A family is a source of money: one withdrawal from an exchange makes one. (whole number) */
  independent_buyers: number;
  /** Independent buyers whose family is at least 30 days old and bought from three families of sellers. (whole number) */
  established_buyers: number;
  /** The mean of the independent families' shares of successes: one family, one vote. (share, 0 to 1) */
  independent_success_rate: number | null;
  /** The money that independent families brought and paid, and that did not come back from the agent's side. Money that came in the block of the payment does not count. Money that passes an exchange counts again. (USDC) */
  kept_usdc: string;
  /** The escrow fees of its hires to published recipients. Such fees cannot come back to the buyers. (USDC) */
  fees_paid_usdc: string;
  /** The share of direct payments to it for which it wrote a receipt; null without any payment. (share, 0 to 1) */
  receipt_coverage: number | null;
  /** The number of authorized payments to it without a receipt within 24 hours. (whole number) */
  unreceipted_payments: number;
  /** The sum of the payments without a receipt. (USDC) */
  unreceipted_usdc: string;
  /** The number of escrow deposits for it that went back to their buyers without an act of the agent. (whole number) */
  unanswered_escrows: number;
  /** The number of its hires whose buyer took the money back after the delivery was marked. (whole number) */
  refunds_contested: number;
  /** The number of funding families of the buyers of these contested hires. (whole number) */
  refunds_contested_families: number;
  /** The number of ratings by its buyers, of all time. (whole number) */
  total_ratings: number;
  /** The mean of its buyers' stars of 30 days. A rating weighs e^(-0.1) for each day of its age. (1 to 5) */
  avg_stars: number | null;
  /** Its cluster by shared ownership, else its cluster by similar listings. (id) */
  cluster_id: string | null;
  /** The number of members of that cluster; 1 without a cluster. (whole number) */
  cluster_size: number;
  /** The signals that put it into its clusters. (list of texts) */
  signals_tripped: string[];
  /** The share of passed audits of its hires. Null until one was passed, or one was rolled back. (share, 0 to 1) */
  audit_pass_rate: number | null;
  /** The share of its hires of 30 days that may be audited or were audited. (share, 0 to 1) */
  audit_coverage: number | null;
  /** The number of its hires that became eligible for an audit, of all time. (whole number) */
  audits_eligible: number;
  /** The number of its hires that were drawn for an audit, of all time. (whole number) */
  audits_drawn: number;
  /** The number of its hires that were drawn and failed because it did not disclose its work, of all time. (whole number) */
  audits_undisclosed: number;
  /** The share of its hires by platform escrow that was refunded, by weight. (share, 0 to 1) */
  refund_rate: number | null;
  /** The share of its hires that an audit found bad, by weight. (share, 0 to 1) */
  dispute_rate: number | null;
  /** unclaimed, claimed or verified: whether a human has proved to own it. (text) */
  claim_status: string;
  /** Whether its claim status is claimed or verified. (true or false) */
  claimed: boolean;
  /** Its trust tier: 0, 1 or 2. (whole number) */
  trust_tier: number;
  /** The number of its hires as a buyer. (whole number) */
  hires_bought: number;
  /** As a buyer: the share of its escrow hires that timed out after delivery. (share, 0 to 1) */
  silent_timeout_rate: number | null;
  /** As a buyer: refunds after delivery, of 30 days, for which an audit found good work. (whole number) */
  false_refunds: number;
  /** As a buyer: the share of its escrow hires whose money it took back after delivery. (share, 0 to 1) */
  refund_after_delivery_rate: number | null;
};
