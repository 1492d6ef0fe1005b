import { saveAgents } from "./agentRow.ts";
import { type ApplyContext, type ApplyOptions, type EventNotes, openContext } from "./applyContext.ts";
import { leaveAgreement } from "./audits/agreement.ts";
import { auditorTiered } from "./audits/auditors.ts";
import { leaveFalseRefunds } from "./audits/contested.ts";
import { leaveAudits } from "./audits/effects.ts";
import { disclosureWaited } from "./audits/eligibility.ts";
import { leaveShare } from "./audits/modes.ts";
import { tickAudits } from "./audits/tickAudits.ts";
import { verdictDue } from "./audits/verdicts.ts";
import { digestTick, noteTouched } from "./digest.ts";
import {
  escrowDelivered,
  escrowDeposited,
  escrowRefunded,
  escrowReleased,
  escrowTimedOut,
} from "./escrows.ts";
import type { DeriveEvent, TickEvent } from "./events.ts";
import { answerIsDue, leaveUnanswered, leaveUnreceipted, receiptIsDue } from "./families/coverage.ts";
import { looksAgain } from "./families/established.ts";
import { leaveFlow } from "./families/flows.ts";
import { tickFamilies } from "./families/tickFamilies.ts";
import { presumptionEnds } from "./funding/fundings.ts";
import { saveHireKeys } from "./hireKeys.ts";
import { leaveDay, leaveWindow } from "./hires.ts";
import { applyIdentityEvent } from "./identities/applyIdentityEvent.ts";
import { openRegistries } from "./identities/source.ts";
import { settleSearchRank } from "./listings.ts";
import { forEachRow } from "./loadedRows.ts";
import { markRoots } from "./paramsRecord.ts";
import { leaveStars } from "./ratings.ts";
import { receiptWaited } from "./receipts.ts";
import { recordSettled } from "./records.ts";
import { historyTold } from "./relevant/historyTold.ts";
import { countTold } from "./relevant/senders.ts";
import { runSchedule } from "./schedule.ts";
import { STATE_ID } from "./stateId.ts";
import { breachDue } from "./steward/sla/breaches.ts";
import { tickSteward } from "./steward/tickSteward.ts";
import type { Store } from "./store.ts";
import { settleTier } from "./tiers.ts";
import { transferred } from "./transfers.ts";
import { saveWallets } from "./wallets.ts";

/**
 * Applies one event to the rows in `store`. The whole derivation is this function folded over the event log. It reads
 * only the event and the rows, so the same log gives the same rows anywhere.
 *
 * @param notes the notes of the previous event, for a caller that applies many events to one store (see `openNotes`)
 */
export function apply(
  store: Store,
  event: DeriveEvent,
  options: ApplyOptions = {},
  notes?: EventNotes,
): void {
  const context = openContext(store, event, options, notes);
  for (const phase of phases) phase(context, event);
}

const phases: ((context: ApplyContext, event: DeriveEvent) => void)[] = [
  dispatch,
  settleAgents,
  settleRosters,
  noteTouched,
  closeTick,
  saveAgents,
  saveWallets,
  saveHireKeys,
];

function settleAgents(context: ApplyContext): void {
  if (context.touchedAgents.size === 0) return;
  forEachRow([...context.touchedAgents], (agent) => {
    settleTier(context, agent);
    settleSearchRank(context, agent);
  });
}

/**
 * Gives agents their places on rosters, or takes these places away. Agents are handled in the order of their
 * addresses, because places on rosters decide who audits. The order in which the event touched the agents would
 * depend on the code.
 */
function settleRosters(context: ApplyContext): void {
  if (context.tiered.size === 0) return;
  forEachRow([...context.tiered].sort(), ([agent, isTier2]) => auditorTiered(context, agent, isTier2));
}

function closeTick(context: ApplyContext, { kind }: DeriveEvent): void {
  if (kind === "tick") digestTick(context);
}

function dispatch(context: ApplyContext, event: DeriveEvent): void {
  switch (event.kind) {
    case "params":
      markRoots(context, event.params);
      openRegistries(context, event.registries);
      break;
    case "transfer":
      transferred(context, event);
      break;
    case "history":
      historyTold(context, event);
      break;
    case "count":
      countTold(context, event);
      break;
    case "escrow.deposited":
      escrowDeposited(context, event);
      break;
    case "escrow.delivered":
      escrowDelivered(context, event);
      break;
    case "escrow.released":
      escrowReleased(context, event);
      break;
    case "escrow.refunded":
      escrowRefunded(context, event);
      break;
    case "escrow.timedOut":
      escrowTimedOut(context, event);
      break;
    case "record":
      recordSettled(context, event);
      break;
    case "tick":
      ticked(context, event);
      break;
    default:
      applyIdentityEvent(context, event);
      break;
  }
}

/** Time moves on: each thing that became due leaves its window, or stops waiting. */
function ticked(context: ApplyContext, { block, time, hash }: TickEvent): void {
  context.store.update("state", STATE_ID, { block, time });
  runSchedule(context, time, (kind, [id = "", ...words]) => {
    switch (kind) {
      case "day":
        return leaveDay(context, id, words.join(" "));
      case "window":
        return leaveWindow(context, id);
      case "rating":
        return leaveStars(context, id);
      case "receipt":
        return receiptWaited(context, id);
      case "payment":
        return presumptionEnds(context, id, words.join(" "));
      case "disclosure":
        return disclosureWaited(context, id);
      case "verdict":
        return verdictDue(context, id);
      case "audit":
        return leaveAudits(context, id, words.join(" "));
      case "breach":
        return breachDue(context, id);
      case "share":
        return leaveShare(context, id, words.join(" "));
      case "falseRefund":
        return leaveFalseRefunds(context, id);
      case "agreement":
        return leaveAgreement(context, id, words as Parameters<typeof leaveAgreement>[2]);
      case "flow":
        return leaveFlow(context, id, BigInt(words[0] ?? 0));
      case "family":
        return looksAgain(context, id);
      case "unreceipted":
        return receiptIsDue(context, id, words);
      case "unpaid":
        return leaveUnreceipted(context, id);
      case "unanswered":
        return answerIsDue(context, id);
      case "answered":
        return leaveUnanswered(context, id);
    }
  });
  tickFamilies(context);
  tickAudits(context, hash);
  tickSteward(context);
}
