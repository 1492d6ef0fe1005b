import type { ApplyContext } from "./applyContext.ts";
import type { AgentChange } from "./openRows.ts";
import { type Answer, after, forEach } from "./store.ts";
import type { Row } from "./tables.ts";

/** The agent, or null. One event reads each agent once, and looks at it and changes it many times. */
export function findAgent(context: ApplyContext, address: string): Answer<Row<"agent"> | null> {
  const open = context.agents.get(address);
  if (open !== undefined) return open.row;
  return after(context.store.get("agent", address), (row) => {
    if (row !== null) context.agents.set(address, { row, change: {}, isNew: false });
    return row;
  });
}

export function agentRow(context: ApplyContext, address: string): Answer<Row<"agent">> {
  return after(findAgent(context, address), (agent) => {
    if (agent === null) throw new Error(`${address} is not an agent.`);
    return agent;
  });
}

export function insertAgent(context: ApplyContext, row: Row<"agent">): void {
  context.touchedAgents.add(row.id);
  context.agents.set(row.id, { row, change: {}, isNew: true });
}

/** Changes an agent's row and marks it to be looked at again at the end of the event. */
export function updateAgent(context: ApplyContext, address: string, change: AgentChange): Answer<void> {
  context.touchedAgents.add(address);
  return changeAgent(context, address, change);
}

/** Changes columns of an agent's row that no published field shows. */
export function changeAgent(context: ApplyContext, address: string, change: AgentChange): Answer<void> {
  return after(agentRow(context, address), (row) => {
    const open = context.agents.get(address);
    if (open === undefined) return;
    open.row = { ...row, ...change };
    Object.assign(open.change, change);
  });
}

/** Writes the agents that this event changed, each once. */
export function saveAgents(context: ApplyContext): Answer<void> {
  if (context.agents.size === 0) return;
  return forEach([...context.agents.values()], ({ row, change, isNew }) => {
    if (isNew) return context.store.insert("agent", row);
    if (Object.keys(change).length > 0) return context.store.update("agent", row.id, change);
  });
}
