import { findAgent } from "../agentRow.ts";
import type { ApplyContext } from "../applyContext.ts";
import { emptyRow } from "../emptyRow.ts";
import { append } from "../lists.ts";
import type { Row } from "../tables.ts";

/** An hour has twelve slots of five minutes. Each agent is computed once an hour, in one of them. */
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

/** The row of an agent. It is made if there is none; null if the address is not an agent. */
export function ensureSteward(context: ApplyContext, agent: string): Row<"steward"> | null {
  const known = context.store.get("steward", agent);
  if (known !== null) return known;
  if (findAgent(context, agent) === null) return null;
  const row = { ...EMPTY, id: agent };
  context.store.insert("steward", row);
  append(context.store, agentsOf(slotOf(agent)), agent);
  return row;
}

/** The slot of the hour in which an agent is computed: its address modulo 12. */
export function slotOf(agent: string): number {
  return Number(BigInt(agent) % BigInt(STEWARD_SLOTS));
}

/** The list of agents of a slot. */
export function agentsOf(slot: number): string {
  return `steward/${slot}`;
}
