import { agentRow, findAgent, insertAgent } from "./agentRow.ts";
import type { ApplyContext } from "./applyContext.ts";
import { emptyRow } from "./emptyRow.ts";
import { noteDeclaration } from "./families/inflows.ts";
import { evaluateFundings } from "./funding/fundings.ts";
import { joinAsFunder } from "./funding/trips.ts";
import { listLength } from "./lists.ts";
import { watch } from "./relevant/inflow.ts";
import { searchRankOf } from "./searchRank.ts";
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
const EMPTY = { ...START, ...searchRankOf(START) };

/**
 * The agent; it is registered if it is new. An address becomes an agent when it first signs a valid listing, is a
 * side of a counted hire, or deposits into an escrow. Null if the address is a hub or an escrow and not an agent yet.
 */
export function ensureAgent(context: ApplyContext, address: string): Row<"agent"> | null {
  const found = findAgent(context, address);
  if (found !== null) return found;
  if (isHubOrEscrow(context, address)) return null;

  insertAgent(context, {
    ...EMPTY,
    id: address,
    registeredBlock: context.at.block,
    registeredTime: context.at.time,
    registeredLog: context.at.log ?? 0,
    claimStatus: context.store.get("claim", address)?.status ?? "unclaimed",
    freeHires: listLength(context.store, freeHiresOf(address)),
  });
  noteDeclaration(context, address);
  watch(context, address);
  // Fundings that came before the registration count from now on, each with the time at which it came.
  evaluateFundings(context, address);
  joinAsFunder(context, address);
  return agentRow(context, address);
}

/**
 * Whether an address is a hub or an escrow now. Then it cannot be a side of a hire. If the address became an agent
 * before, the agent's row has the answer.
 */
export function isHubNow(context: ApplyContext, address: string): boolean {
  return findAgent(context, address)?.isHub ?? isHubOrEscrow(context, address);
}

/** The list of an address's free hires as a seller. It is kept even before the address is an agent. */
export function freeHiresOf(seller: string): string {
  return `free/${seller}`;
}
