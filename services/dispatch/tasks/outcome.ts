/** The status of a task whose work was not accepted, and is not held for review. */
export type Unsettled = "REJECTED" | "FAILED" | "BUDGET" | "CANCELLED" | "EXPIRED";

/**
 * The outcome of a task. `cost_usd` is everything that was spent on it. `calls` is the number of requests to models,
 * without those that a busy vendor refused.
 */
export type Outcome = {
  task_id: string;
  /** The task's name in the ledger, if it is not `task_id` because a task of another client has that name. */
  ledger_task_id?: string;
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

/**
 * The end of a task whose work was not accepted, or is held for review. The dispatcher proposes a closing entry for
 * such a task.
 */
export type Unfinished =
  | { status: "ESCROWED"; reason: string; held: string; divergence: number }
  | { status: Unsettled; reason: string };
