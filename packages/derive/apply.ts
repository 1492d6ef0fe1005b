import { saveAgents } from "./agentRow.ts";
import {
  type ApplyContext,
  type ApplyOptions,
  type EventNotes,
  nextContext,
  openContext,
} from "./applyContext.ts";
import { leaveAgreement } from "./audits/agreement.ts";
import { auditorTiered } from "./audits/auditors.ts";
import { leaveFalseRefunds } from "./audits/contested.ts";
import { leaveAudits } from "./audits/effects.ts";
import { disclosureWaited } from "./audits/eligibility.ts";
import { leaveShare } from "./audits/modes.ts";
import { tickAudits } from "./audits/tickAudits.ts";
import { verdictDue } from "./audits/verdicts.ts";
import { digestTick, findLeaves, noteTouched } from "./digest.ts";
import {
  escrowDelivered,
  escrowDeposited,
  escrowRefunded,
  escrowReleased,
  escrowTimedOut,
} from "./escrows.ts";
import type { DeriveEvent } from "./events.ts";
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
import { Transaction } from "./transaction.ts";
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
  for (const part of partsOf(event)) part(context, event);
  save(context);
}

/** Runs work that needs rows of a store, perhaps many times: see `LoadedRows.run`. */
export type RunWithRows = <T>(work: () => T) => Promise<T> | T;

/**
 * Applies one event as {@link apply} does, one part after the other. A part that lacks rows runs again alone. Without
 * parts a tick would run its whole work again for the rows that each part lacks.
 *
 * @param store does not change
 * @returns the changes of the event
 */
export async function applyInParts(
  store: Pick<Store, "get">,
  event: DeriveEvent,
  options: ApplyOptions,
  run: RunWithRows,
): Promise<Transaction> {
  const whole = new Transaction(store);
  let before: ApplyContext | null = null;
  for (const part of partsOf(event)) {
    const known: ApplyContext | null = before;
    const { rows, context }: Attempt = await run(() => {
      const rows = new Transaction(whole);
      const context: ApplyContext =
        known === null ? openContext(rows, event, options) : nextContext(rows, known);
      part(context, event);
      save(context);
      return { rows, context };
    });
    if (known === null && part === wholeEvent) return rows;
    rows.commitTo(whole);
    before = context;
  }
  return whole;
}

type Part = (context: ApplyContext, event: DeriveEvent) => void;

type Attempt = { rows: Transaction; context: ApplyContext };

function partsOf({ kind }: DeriveEvent): readonly Part[] {
  return kind === "tick" ? TICK : EVENT;
}

/** All events except ticks concern few rows, and have one part. */
const EVENT: readonly Part[] = [wholeEvent];

const TICK: readonly Part[] = [
  runDue,
  tickFamilies,
  (context, event) => tickAudits(context, event.kind === "tick" ? event.hash : undefined),
  tickSteward,
  settle,
  noteTouched,
  findLeaves,
  digestTick,
];

function wholeEvent(context: ApplyContext, event: DeriveEvent): void {
  dispatch(context, event);
  settle(context);
  noteTouched(context);
}

function settle(context: ApplyContext): void {
  settleAgents(context);
  settleRosters(context);
}

function save(context: ApplyContext): void {
  saveAgents(context);
  saveWallets(context);
  saveHireKeys(context);
}

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
      break;
    default:
      applyIdentityEvent(context, event);
      break;
  }
}

/** Time moves on: each thing that became due leaves its window, or stops waiting. */
function runDue(context: ApplyContext): void {
  const { block, time } = context.at;
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
}
