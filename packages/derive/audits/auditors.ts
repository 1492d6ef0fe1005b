import type { Auditor } from "tallystick-protocol/records/auditor";
import { endpointAddress } from "tallystick-protocol/records/listing";
import { findAgent } from "../agentRow.ts";
import type { ApplyContext } from "../applyContext.ts";
import { emptyRow } from "../emptyRow.ts";
import { existingRow } from "../existingRow.ts";
import { append, itemsOf } from "../lists.ts";
import type { Row } from "../tables.ts";
import { joinRoster, leaveRoster, rosterOf } from "./rosters.ts";

/**
 * Stores an agent's offer to audit these capabilities for an operator, or its withdrawal. A new offer brings
 * back an auditor that was removed. An auditor has a place on the rosters while its agent is in Tier 2. Other
 * conditions are checked when it is picked.
 */
export function auditorSettled(context: ApplyContext, offer: Auditor): void {
  const { agent_id: agent, operator } = offer;
  const known = findAuditor(context, operator, agent);
  const capabilities = offer.active ? offer.capabilities : [];
  takeOut(
    context,
    known,
    known === null ? [] : capabilitiesOf(known).filter((it) => !capabilities.includes(it)),
  );
  const row = {
    agent,
    operator,
    capabilities: capabilities.join(","),
    host: endpointAddress(offer.endpoint).hostname,
    endpoint: offer.endpoint,
    isActive: offer.active,
    issuedAt: offer.issued_at,
    time: context.at.time,
    unanswered: 0,
    removedFor: null,
    barredUntil: null,
  };
  const id = auditorId(operator, agent);
  if (known === null) {
    context.store.insert("auditor", { ...emptyRow("auditor"), id, ...row });
    append(context.store, operatorsOf(agent), operator);
  } else context.store.update("auditor", id, row);
  if (findAgent(context, agent)?.trustTier !== 2) return;
  for (const capability of capabilities) joinRoster(context, rosterOf(operator, capability), agent);
}

/** Called when an agent rises to Tier 2 or falls from it. Gives the agent its places on rosters, or takes them away. */
export function auditorTiered(context: ApplyContext, agent: string, isTier2: boolean): void {
  for (const operator of itemsOf(context.store, operatorsOf(agent))) {
    const auditor = auditorRow(context, operator, agent);
    if (!auditor.isActive) continue;
    for (const capability of capabilitiesOf(auditor))
      (isTier2 ? joinRoster : leaveRoster)(context, rosterOf(operator, capability), agent);
  }
}

/** Removes an auditor from all rosters of its operator, until it offers itself again. */
export function removeAuditor(context: ApplyContext, auditor: Row<"auditor">, reason: string): void {
  takeOut(context, auditor, capabilitiesOf(auditor));
  context.store.update("auditor", auditor.id, { isActive: false, removedFor: reason });
}

export function findAuditor(context: ApplyContext, operator: string, agent: string): Row<"auditor"> | null {
  return context.store.get("auditor", auditorId(operator, agent));
}

/** The row of an agent that sent an offer or a withdrawal before, so the row must exist. */
export function auditorRow(context: ApplyContext, operator: string, agent: string): Row<"auditor"> {
  return existingRow(context.store, "auditor", auditorId(operator, agent));
}

function auditorId(operator: string, agent: string): string {
  return `${operator}/${agent}`;
}

function capabilitiesOf({ capabilities }: Row<"auditor">): string[] {
  return capabilities === "" ? [] : capabilities.split(",");
}

function takeOut(context: ApplyContext, auditor: Row<"auditor"> | null, capabilities: string[]): void {
  if (auditor === null) return;
  for (const capability of capabilities)
    leaveRoster(context, rosterOf(auditor.operator, capability), auditor.agent);
}

/** The name of the list of the operators to which an agent ever sent an offer or a withdrawal. */
function operatorsOf(agent: string): string {
  return `auditorFor/${agent}`;
}
