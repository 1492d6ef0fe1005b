/** Why a task ended without an entry of its own. */
export type Unsettled = "REJECTED" | "FAILED" | "BUDGET" | "CANCELLED" | "EXPIRED";

/** The outcome of a task. `cost_usd` is everything that was spent on it, `calls` the number of requests to models. */
export type Outcome = {
  task_id: string;
  cost_usd: string;
  calls: number;
  escalations: number;
  tier: string | null;
} & (
  | { status: "SETTLED"; hash: string; index: number; timestamp: number; answer: unknown; shadowed: boolean }
  | { status: "ESCROWED"; reason: string; held: string; divergence: number; closing?: string }
  | { status: Unsettled; reason: string; closing?: string }
  | { status: "VALIDATED"; answer: unknown }
);

/** How a task ended that has no entry of its own. */
export type Unfinished =
  | { status: "ESCROWED"; reason: string; held: string; divergence: number }
  | { status: Unsettled; reason: string };
