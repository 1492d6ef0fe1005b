import type { PublishedFields } from "./publishedFields.ts";

/** The body of `POST /v1/search` (SHP §6.1). A rate that is null passes no minimum. */
export type SearchRequest = {
  capability: string;
  /** USDC, like "1.00". */
  max_price_usdc?: string | null;
  max_latency_ms?: number | null;
  /** From 0 to 1. */
  min_success_rate?: number | null;
  /** From 0 to 5. */
  min_avg_stars?: number | null;
  /** 0, 1 or 2. */
  min_trust_tier?: number | null;
  /** The number of independent families of wallets that bought (docs/independence.md). */
  min_independent_buyers?: number | null;
  /** From 0 to 1: the share of direct payments with a receipt. */
  min_receipt_coverage?: number | null;
  /** USDC that buyers paid and did not get back, like "1.00". */
  min_kept_usdc?: string | null;
  /** Only agents that have an identity of ERC-8004 now. */
  erc8004?: boolean | null;
  /** An exact mode, or `platform_escrow:*` for any escrow service. */
  payment_mode?: string | null;
  /** Like "v1" (SHP §8.2). */
  min_verification_version?: string | null;
  clarification_supported?: boolean | null;
  /** Only listings that agree to audits by an operator that the node follows (SHP §8.3). */
  audited?: boolean | null;
  /** This tier of the trust score or a higher one. */
  steward_tier?: "UNVERIFIED" | "VERIFIED" | "TRUSTED" | "HIGHLY_TRUSTED" | null;
  /** From 0 to 1. */
  min_steward_score?: number | null;
  /** Also shows sellers that are suspended now because they broke their SLA. */
  include_suspended?: boolean | null;
  /** All orders but `ranking` put the highest value first. */
  order_by?: "ranking" | "steward_score" | "independent_buyers" | "kept_usdc" | "receipt_coverage" | null;
  /** At most 100; 20 unless given. */
  limit?: number;
  /** `next_cursor` of the page before. */
  cursor?: string | null;
};

/** What a listing offers. */
export type Offer = {
  capability: string;
  price_usdc: string;
  max_latency_ms: number;
  payment_mode: string;
  first_call_free: boolean;
  endpoint: string;
  /** Who is paid, if not the agent itself. */
  payee?: string | undefined;
  verification_version?: string | undefined;
  clarification_supported: boolean;
  private_metrics: boolean;
  /** The ledger entry that carries the signed listing. */
  entry_hash: string;
};

/** One offer with its seller's reputation (SHP §6.2). Unknown figures are null. */
export type SearchResult = {
  agent_id: string;
  cluster_id: string | null;
  cluster_size: number;
  listing: Offer;
  reputation: {
    success_rate: number | null;
    avg_latency_ms: number | null;
    last_30d_hire_count: number;
    avg_stars: number | null;
    total_ratings: number;
    claim_status: string;
    claimed: boolean;
    trust_tier: number;
    independent_buyers: number;
    kept_usdc: string;
    receipt_coverage: number | null;
    cluster_id: string | null;
    cluster_size: number;
  };
  /** The seller's trust score, which is advice; null without one. */
  steward: { score: number; tier: string; suspended_until: number | null } | null;
};

/** A page of offers, in the order that was asked for. `next_cursor` is null on the last page. */
export type SearchAnswer = { agents: SearchResult[]; next_cursor: string | null };

/** The present state of an agent's SLA; null when it has none. */
export type SlaAnswer = {
  agent_id: string;
  /** `suspended_until`: the agent takes no new hires until then, unix seconds. */
  sla_status: { overall_status: string; suspended_until: number | null } | null;
  as_of: AsOf;
};

/** The block and time of the last tick. Windows and expiries are evaluated at this time. */
export type AsOf = { block: number; time: number };

/** An agent's public fields. */
export type ReputationAnswer = PublishedFields & {
  agent_id: string;
  /** Whether the values are published buckets. */
  private_metrics: boolean;
  as_of: AsOf;
};

/** An agent's cluster and the others in it (SHP §4.5.2). */
export type ClusterAnswer = {
  agent_id: string;
  cluster_id: string | null;
  cluster_size: number;
  signals_tripped: string[];
  co_members: string[];
  next_cursor: string | null;
};

/** A page of all listings of an agent, retired ones too. `next_cursor` is null on the last page. */
export type ListingsAnswer = {
  agent_id: string;
  listings: (Offer & { retired: boolean; issued_at: number; block: number })[];
  next_cursor: string | null;
};

/** A receipt in the ledger, and how it counts. Times are unix seconds. */
export type ReceiptAnswer = {
  receipt_hash: string;
  agent_id: string;
  buyer: string;
  capability: string;
  hire_id: string;
  tx_hash: string;
  log_index: number | null;
  amount_usdc_atomic: string;
  payee: string;
  escrow_id: string | null;
  completed_at: number;
  time: number;
  verification: { all_passed: boolean };
  latency_ms: number | null;
  buyer_signed: boolean;
  /** `pending`, `counted`, `free`, `unmatched` or `duplicate`. */
  status: string;
  hire: {
    id: string;
    outcome: string;
    evidence: string;
    dispute: boolean;
    dispute_source: string | null;
    weight: number;
    time: number;
  } | null;
};

/** A page of a seller's receipts, the latest first. `next_cursor` is null on the last page. */
export type ReceiptsAnswer = { agent_id: string; receipts: ReceiptAnswer[]; next_cursor: string | null };

/** The parameters in force, where reputation fields come from, and the order of search results. */
export type ParamsAnswer = {
  version: number;
  params: { [name: string]: unknown };
  reputation_fields: { [field: string]: { source: string[]; cadence: string } };
  search_ranking: string[];
  as_of: AsOf;
};

/** Which page of a list is asked for. */
export type Page = {
  /** At most 100; 20 unless given. */
  limit?: number;
  /** `next_cursor` of the page before. */
  cursor?: string | null;
};
