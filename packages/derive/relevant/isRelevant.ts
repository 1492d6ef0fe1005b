import type { ApplyContext } from "../applyContext.ts";

/** Whether the log has the transfers that matter only. */
export function isRelevant({ state }: Pick<ApplyContext, "state">): boolean {
  return state.form === "relevant";
}
