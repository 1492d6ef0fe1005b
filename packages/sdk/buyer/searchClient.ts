import type { SearchRequest } from "../query/answers.ts";

/** One offer with its seller's reputation, as far as a buyer uses it (SHP §6.2). Unknown figures are null. */
export type FoundAgent = {
  agent_id: string;
  listing: { [key: string]: unknown };
  /**
   * The listing as its seller signed it: `{body, signature}`. Without it a buyer asks the seller, or asks the node
   * for the entry that `listing.entry_hash` names.
   */
  signed?: unknown;
  reputation: { success_rate?: number | null; trust_tier?: number; [key: string]: unknown };
  /** `suspended_until` is the time until which the agent takes no new hires, in unix seconds. */
  steward?: { suspended_until?: number | null; [key: string]: unknown } | null;
};

/** Finds sellers: a query client (`createQueryClient`), or anything with the same method. */
export type SearchClient = {
  search: (
    request: SearchRequest,
    options?: { signal?: AbortSignal },
  ) => Promise<{ agents: readonly FoundAgent[]; next_cursor?: string | null }>;
  /**
   * Whether an agent is suspended. A buyer asks this before it hires a listing that did not come from a
   * search. Default: the node's answer.
   */
  sla?: (
    agent: string,
    options?: { signal?: AbortSignal },
  ) => Promise<{ sla_status: { suspended_until?: number | null } | null }>;
};
