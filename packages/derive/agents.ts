import { agentRow, findAgent, insertAgent } from "./agentRow.ts";
import { emptyRow } from "./emptyRow.ts";
import { actByWord } from "./families/inflows.ts";
import { evaluateFundings } from "./funding/fundings.ts";
import { joinAsFunder } from "./funding/trips.ts";
import { listLength } from "./lists.ts";
import { watch } from "./relevant/inflow.ts";
import { standingOf } from "./standing.ts";
import type { Step } from "./step.ts";
import type { Row } from "./tables.ts";
import { isHubOrEscrow } from "./wallets.ts";

/** An agent without a hire. */
const NO_WEIGHTS = {
  windowWeight: "0",
  ratedWeight: "0",
  successWeight: "0",
  escrowWeight: "0",
  refundedWeight: "0",
  auditDisputedWeight: "0",
  dayVolume: "0",
};
const START = { ...emptyRow("agent"), ...NO_WEIGHTS, signalsTripped: "" };
const EMPTY = { ...START, ...standingOf(START) };

/**
 * The agent, registered now if it was not: signers of valid listings, buyers and sellers of counted hires and buyers of
 * escrow deposits are agents from their first appearance on. Null for hubs and escrows, which never are.
 */
export async function ensureAgent(step: Step, address: string): Promise<Row<"agent"> | null> {
  const found = await findAgent(step, address);
  if (found !== null) return found;
  if (await isHubOrEscrow(step, address)) return null;

  insertAgent(step, {
    ...EMPTY,
    id: address,
    registeredBlock: step.at.block,
    registeredTime: step.at.time,
    registeredLog: step.at.log ?? 0,
    claimStatus: (await step.store.get("claim", address))?.status ?? "unclaimed",
    freeHires: await listLength(step.store, freeHiresOf(address)),
  });
  await actByWord(step, address);
  await watch(step, address);
  // Fundings that came before the registration count from now on, with the times at which they came.
  await evaluateFundings(step, address);
  await joinAsFunder(step, address);
  return agentRow(step, address);
}

/** Whether an address is an agent or can become one: hubs and escrows cannot. */
export async function mayBeAgent(step: Step, address: string): Promise<boolean> {
  return (await findAgent(step, address)) !== null || !(await isHubOrEscrow(step, address));
}

/** The list of an address's free hires as a seller, kept also while it is not an agent yet. */
export function freeHiresOf(seller: string): string {
  return `free/${seller}`;
}
