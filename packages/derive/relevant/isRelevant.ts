import type { ApplyContext } from "../applyContext.ts";

/** Whether the log has only the transfers that matter. */
export function isRelevant({ state }: Pick<ApplyContext, "state">): boolean {
  return state.form === "relevant";
}
