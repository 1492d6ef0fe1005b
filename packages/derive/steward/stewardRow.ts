import { findAgent } from "../agentRow.ts";
import type { ApplyContext } from "../applyContext.ts";
import { emptyRow } from "../emptyRow.ts";
import { append } from "../lists.ts";
import type { Row } from "../tables.ts";

/** Agents are looked at once an hour, each in one of twelve slots of five minutes. */
export const STEWARD_SLOTS = 12;

const TEXTS = {
  outcomes: "",
  hardSales: "",
  served: "",
  slots: "",
  run: "",
  claims: "",
  endorsedBy: "",
  succeeded: "0",
  failed: "0",
  slotSums: "0:0:0 0:0:0 0:0:0",
  counted: "",
  leftOut: "",
  slaLeft: "1",
  guarantees: "",
};

const EMPTY = { ...emptyRow("steward"), ...TEXTS };

/** The row of an agent, made now if there is none; null for who is no agent. */
export async function ensureSteward(context: ApplyContext, agent: string): Promise<Row<"steward"> | null> {
  const known = await context.store.get("steward", agent);
  if (known !== null) return known;
  if ((await findAgent(context, agent)) === null) return null;
  const row = { ...EMPTY, id: agent };
  await context.store.insert("steward", row);
  await append(context.store, agentsOf(slotOf(agent)), agent);
  return row;
}

/** The slot of the hour in which an agent is looked at: its address modulo 12. */
export function slotOf(agent: string): number {
  return Number(BigInt(agent) % BigInt(STEWARD_SLOTS));
}

/** The list of agents of a slot. */
export function agentsOf(slot: number): string {
  return `steward/${slot}`;
}
