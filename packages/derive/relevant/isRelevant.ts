import type { Step } from "../step.ts";

/** Whether the log has the transfers that matter only. */
export function isRelevant({ state }: Pick<Step, "state">): boolean {
  return state.form === "relevant";
}
