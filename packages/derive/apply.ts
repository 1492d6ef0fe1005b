import { runAgenda } from "./agenda.ts";
import { saveAgents } from "./agentRow.ts";
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
import { settleStanding } from "./listings.ts";
import { markRoots } from "./paramsRecord.ts";
import { leaveStars } from "./ratings.ts";
import { receiptWaited } from "./receipts.ts";
import { recordSettled } from "./records.ts";
import { historyTold } from "./relevant/historyTold.ts";
import { countTold } from "./relevant/senders.ts";
import { STATE_ID } from "./stateId.ts";
import { type ApplyOptions, openStep, type Step } from "./step.ts";
import { breachDue } from "./steward/sla/breaches.ts";
import { tickSteward } from "./steward/tickSteward.ts";
import { type Answer, after, forEach, type Store } from "./store.ts";
import { settleTier } from "./tiers.ts";
import { transferred } from "./transfers.ts";
import { saveWallets } from "./wallets.ts";

/**
 * Applies one event to the rows in `store`: the whole derivation is this function folded over the event log. It reads
 * nothing but the event and the rows, so the same log gives the same rows anywhere.
 */
export function apply(store: Store, event: DeriveEvent, options: ApplyOptions = {}): Answer<void> {
  return after(openStep(store, event, options), (step) => forEach(phases, (phase) => phase(step, event)));
}

const phases: ((step: Step, event: DeriveEvent) => Answer<void>)[] = [
  dispatch,
  settleAgents,
  settleRosters,
  noteTouched,
  closeTick,
  saveAgents,
  saveWallets,
  saveHireKeys,
];

function settleAgents(step: Step): Answer<void> {
  if (step.touchedAgents.size === 0) return;
  return forEach([...step.touchedAgents], (agent) =>
    after(settleTier(step, agent), () => settleStanding(step, agent)),
  );
}

/** In the order of addresses, not of what the event touched first: places on rosters decide who audits. */
function settleRosters(step: Step): Answer<void> {
  if (step.tiered.size === 0) return;
  return forEach([...step.tiered].sort(), ([agent, isTier2]) => auditorTiered(step, agent, isTier2));
}

function closeTick(step: Step, { kind }: DeriveEvent): Answer<void> {
  if (kind === "tick") return digestTick(step);
}

function dispatch(step: Step, event: DeriveEvent): Answer<void> {
  switch (event.kind) {
    case "params":
      return markRoots(step, event.params);
    case "transfer":
      return transferred(step, event);
    case "history":
      return historyTold(step, event);
    case "count":
      return countTold(step, event);
    case "escrow.deposited":
      return escrowDeposited(step, event);
    case "escrow.delivered":
      return escrowDelivered(step, event);
    case "escrow.released":
      return escrowReleased(step, event);
    case "escrow.refunded":
      return escrowRefunded(step, event);
    case "escrow.timedOut":
      return escrowTimedOut(step, event);
    case "record":
      return recordSettled(step, event);
    case "tick":
      return ticked(step, event);
  }
}

/** Time moves: what is due leaves its window or stops waiting. */
async function ticked(step: Step, { block, time, hash }: TickEvent): Promise<void> {
  await step.store.update("state", STATE_ID, { block, time });
  await runAgenda(step, time, (kind, [id = "", ...words]) => {
    switch (kind) {
      case "day":
        return leaveDay(step, id, words.join(" "));
      case "window":
        return leaveWindow(step, id);
      case "rating":
        return leaveStars(step, id);
      case "receipt":
        return receiptWaited(step, id);
      case "payment":
        return presumptionEnds(step, id, words.join(" "));
      case "disclosure":
        return disclosureWaited(step, id);
      case "verdict":
        return verdictDue(step, id);
      case "audit":
        return leaveAudits(step, id, words.join(" "));
      case "breach":
        return breachDue(step, id);
      case "share":
        return leaveShare(step, id, words.join(" "));
      case "falseRefund":
        return leaveFalseRefunds(step, id);
      case "agreement":
        return leaveAgreement(step, id, words as Parameters<typeof leaveAgreement>[2]);
      case "flow":
        return leaveFlow(step, id, BigInt(words[0] ?? 0));
      case "family":
        return looksAgain(step, id);
      case "unreceipted":
        return receiptIsDue(step, id, words);
      case "unpaid":
        return leaveUnreceipted(step, id);
      case "unanswered":
        return answerIsDue(step, id);
      case "answered":
        return leaveUnanswered(step, id);
    }
  });
  await tickFamilies(step);
  await tickAudits(step, hash);
  await tickSteward(step);
}
