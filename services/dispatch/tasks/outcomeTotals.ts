import { formatDollars, readDollars } from "../models/money.ts";
import type { Outcome } from "./outcome.ts";
import type { TaskFile } from "./taskFile.ts";
import type { WorkState } from "./workState.ts";

export type OutcomeTotals = Pick<
  Outcome,
  "task_id" | "ledger_task_id" | "cost_usd" | "calls" | "escalations" | "tier"
>;

/** The fields of every outcome, from what is stored of the task. */
export function outcomeTotals(
  file: TaskFile,
  state: Pick<WorkState, "tier" | "escalations"> = { tier: null, escalations: [] },
): OutcomeTotals {
  const records = Object.values(file.calls).filter(({ isFree }) => !isFree);
  const cost = records.reduce((sum, { record }) => sum + (readDollars(record.cost_usd) ?? 0n), 0n);
  return {
    task_id: file.taskId,
    ...(file.name !== undefined && { ledger_task_id: file.name }),
    cost_usd: formatDollars(cost),
    calls: records.length,
    escalations: state.escalations.length,
    tier: state.tier,
  };
}
