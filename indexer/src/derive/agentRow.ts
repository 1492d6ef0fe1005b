import type { Step } from "./step.ts";
import type { Row } from "./tables.ts";

export async function agentRow(step: Step, address: string): Promise<Row<"agent">> {
  const agent = await step.store.get("agent", address);
  if (agent === null) throw new Error(`${address} is not an agent.`);
  return agent;
}

/** Changes an agent's row and notes that it has to be looked at again at the end of the step. */
export async function updateAgent(
  step: Step,
  address: string,
  change: Partial<Omit<Row<"agent">, "id">>,
): Promise<void> {
  step.touchedAgents.add(address);
  await step.store.update("agent", address, change);
}
