import type { ApplyContext } from "./applyContext.ts";
import type { AgentChange } from "./openRows.ts";
import type { Row } from "./tables.ts";

/** The agent, or null. An event may use an agent many times, but reads its row once. */
export function findAgent(context: ApplyContext, address: string): Row<"agent"> | null {
  const open = context.agents.get(address);
  if (open !== undefined) return open.row;
  const row = context.store.get("agent", address);
  if (row !== null) context.agents.set(address, { row, change: {}, isNew: false });
  return row;
}

export function agentRow(context: ApplyContext, address: string): Row<"agent"> {
  const agent = findAgent(context, address);
  if (agent === null) throw new Error(`${address} is not an agent.`);
  return agent;
}

export function insertAgent(context: ApplyContext, row: Row<"agent">): void {
  context.touchedAgents.add(row.id);
  context.agents.set(row.id, { row, change: {}, isNew: true });
}

/** Changes an agent's row and marks it to be looked at again at the end of the event. */
export function updateAgent(context: ApplyContext, address: string, change: AgentChange): void {
  context.touchedAgents.add(address);
  changeAgent(context, address, change);
}

/** Changes columns of an agent's row that no published field shows. */
export function changeAgent(context: ApplyContext, address: string, change: AgentChange): void {
  const row = agentRow(context, address);
  const open = context.agents.get(address);
  if (open === undefined) return;
  open.row = { ...row, ...change };
  Object.assign(open.change, change);
}

/** Writes the agents that this event changed, each once. */
export function saveAgents(context: ApplyContext): void {
  for (const { row, change, isNew } of context.agents.values()) {
    if (isNew) context.store.insert("agent", row);
    else if (Object.keys(change).length > 0) context.store.update("agent", row.id, change);
  }
}
