import type { SearchRequest } from "../query/answers.ts";

/** One offer with its seller's reputation, as far as a buyer looks at it (SHP §6.2). Unknown figures are null. */
export type FoundAgent = {
  agent_id: string;
  listing: { [key: string]: unknown };
  reputation: { success_rate?: number | null; trust_tier?: number; [key: string]: unknown };
  /** Until when it takes no new hires, unix seconds. */
  steward?: { suspended_until?: number | null; [key: string]: unknown } | null;
};

/** Finds sellers: a query client (`createQueryClient`), or whatever else can. */
export type SearchClient = {
  search: (
    request: SearchRequest,
    options?: { signal?: AbortSignal },
  ) => Promise<{ agents: readonly FoundAgent[]; next_cursor?: string | null }>;
  /** What an agent promises: asked before a listing is hired that nobody searched for. Default: the node's word. */
  sla?: (
    agent: string,
    options?: { signal?: AbortSignal },
  ) => Promise<{ sla_status: { suspended_until?: number | null } | null }>;
};
