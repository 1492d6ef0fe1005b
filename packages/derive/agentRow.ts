import type { AgentChange } from "./openRows.ts";
import type { Step } from "./step.ts";
import { type Answer, after, forEach } from "./store.ts";
import type { Row } from "./tables.ts";

/** The agent, or null. A step reads each agent once: it is looked at and changed many times over. */
export function findAgent(step: Step, address: string): Answer<Row<"agent"> | null> {
  const open = step.agents.get(address);
  if (open !== undefined) return open.row;
  return after(step.store.get("agent", address), (row) => {
    if (row !== null) step.agents.set(address, { row, change: {}, isNew: false });
    return row;
  });
}

export function agentRow(step: Step, address: string): Answer<Row<"agent">> {
  return after(findAgent(step, address), (agent) => {
    if (agent === null) throw new Error(`${address} is not an agent.`);
    return agent;
  });
}

export function insertAgent(step: Step, row: Row<"agent">): void {
  step.touchedAgents.add(row.id);
  step.agents.set(row.id, { row, change: {}, isNew: true });
}

/** Changes an agent's row and notes that it has to be looked at again at the end of the step. */
export function updateAgent(step: Step, address: string, change: AgentChange): Answer<void> {
  step.touchedAgents.add(address);
  return changeAgent(step, address, change);
}

/** Changes an agent's row in what nobody sees. */
export function changeAgent(step: Step, address: string, change: AgentChange): Answer<void> {
  return after(agentRow(step, address), (row) => {
    const open = step.agents.get(address);
    if (open === undefined) return;
    open.row = { ...row, ...change };
    Object.assign(open.change, change);
  });
}

/** Writes the agents that this step changed, each once. */
export function saveAgents(step: Step): Answer<void> {
  if (step.agents.size === 0) return;
  return forEach([...step.agents.values()], ({ row, change, isNew }) => {
    if (isNew) return step.store.insert("agent", row);
    if (Object.keys(change).length > 0) return step.store.update("agent", row.id, change);
  });
}
