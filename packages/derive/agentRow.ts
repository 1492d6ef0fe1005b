import type { ApplyContext } from "./applyContext.ts";
import type { OpenAgent } from "./openRows.ts";
import type { Row } from "./tables.ts";

/** The changed columns of an agent. */
type AgentChange = Partial<Omit<Row<"agent">, "id">>;

/** The agent, or null. An event may use an agent many times. Its row is read from the store only once. */
export function findAgent(context: ApplyContext, address: string): Row<"agent"> | null {
  const open = context.agents.get(address);
  if (open !== undefined) return open.row;
  const row = context.store.get("agent", address);
  if (row !== null) context.agents.set(address, { row, stored: row });
  return row;
}

export function agentRow(context: ApplyContext, address: string): Row<"agent"> {
  const agent = findAgent(context, address);
  if (agent === null) throw new Error(`${address} is not an agent.`);
  return agent;
}

export function insertAgent(context: ApplyContext, row: Row<"agent">): void {
  context.touchedAgents.add(row.id);
  context.agents.set(row.id, { row, stored: null });
}

/** Changes an agent's row and marks it to be looked at again at the end of the event. */
export function updateAgent(context: ApplyContext, address: string, change: AgentChange): void {
  context.touchedAgents.add(address);
  changeAgent(context, address, change);
}

/** Changes columns of an agent's row that no published field shows. */
export function changeAgent(context: ApplyContext, address: string, change: AgentChange): void {
  if (findAgent(context, address) === null) throw new Error(`${address} is not an agent.`);
  const open = context.agents.get(address) as OpenAgent;
  // An event copies a row of the store once, before its first change. Its other changes go into the same copy.
  if (open.row === open.stored) open.row = { ...open.row };
  Object.assign(open.row, change);
}

/** Writes the rows of all agents that this event changed. Each row is written once. */
export function saveAgents(context: ApplyContext): void {
  for (const { row, stored } of context.agents.values()) {
    if (row !== stored) context.store.put("agent", row);
  }
}
