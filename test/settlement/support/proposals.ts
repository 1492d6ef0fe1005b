import { API_KEY } from "./testService.ts";

/** The header with the API key that may settle proposals. */
export const KEY = { authorization: `Bearer ${API_KEY}` };

/** A proposal on `parentHash` that every rule accepts. */
export function proposal(parentHash: string, changes: { [key: string]: unknown } = {}) {
  return {
    header: { task_id: "task-1", parent_hash: parentHash, agent_metadata: { model: "m", version: "1" } },
    payload: { data_update: { core_logic: "be kind", budget: 100, other: 1 }, confidence_score: 0.9 },
    ...changes,
  };
}
