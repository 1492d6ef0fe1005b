import type { ApplyContext } from "../applyContext.ts";
import { existingRow } from "../existingRow.ts";
import { append, itemOf } from "../lists.ts";
import { isBefore, type Place, placeOf } from "../place.ts";
import type { Row } from "../tables.ts";
import { countInLink } from "./identities.ts";
import { belongsTo } from "./self.ts";

/**
 * The most feedback of one client on one agent that waits for a hire at a time. Further feedback stays unproven.
 * So a hire never searches a long list.
 */
export const MAX_WAITING = 100;

/**
 * Called when a hire was counted. The hire backs the oldest waiting feedback of its buyer on its seller that is not
 * older than the payment. If there is none, the hire backs the next such feedback.
 */
export function hireMayBack(
  context: ApplyContext,
  hire: Pick<Row<"hire">, "id" | "seller" | "buyer" | "time">,
): void {
  if (context.state.registries) offerHire(context, hire);
}

/** Called when a hire turned out to be arranged by an operator of audits. It no longer backs a feedback. */
export function hireBacksNoMore(context: ApplyContext, id: string): void {
  const row = context.state.registries ? context.store.get("backing", id) : null;
  if (row === null || row.feedback === null) return;
  context.store.update("backing", id, { feedback: null });
  const feedback = feedbackRow(context, row.feedback);
  context.store.update("feedback", feedback.id, { standing: "unproven", hire: null });
  countInLink(context, feedback.link, { backed: -1 });
  findBacking(context, feedback);
}

/**
 * Gives the first free hire of a feedback's pair (agent and client) to the feedback, or lets the feedback wait for a
 * hire. The first free hire can be too late: a feedback whose hire was withdrawn is older than later hires.
 */
export function findBacking(context: ApplyContext, feedback: Row<"feedback">): void {
  if (feedback.agent === null) return;
  const pair = pairRow(context, pairId(feedback.agent, feedback.client));
  const hire = takeFree(context, pair, feedback.time);
  if (hire !== null) {
    back(context, feedback, hire);
    return;
  }
  const waiting = linesOf(pair);
  if (waiting.length >= MAX_WAITING) return;
  const line = lineOf(feedback);
  const at = waiting.findIndex((it) => isBefore(placeOf(feedback), placeIn(it)));
  waiting.splice(at === -1 ? waiting.length : at, 0, line);
  saveWaiting(context, pair.id, waiting);
}

/** Called when a feedback was revoked. It no longer waits, and its hire may back another feedback. */
export function leaveBacking(context: ApplyContext, feedback: Row<"feedback">): void {
  if (feedback.agent === null) return;
  if (feedback.hire === null) {
    const pair = pairRow(context, pairId(feedback.agent, feedback.client));
    const waiting = linesOf(pair);
    const left = waiting.filter((it) => it !== lineOf(feedback));
    if (left.length < waiting.length) saveWaiting(context, pair.id, left);
    return;
  }
  const hire = existingRow(context.store, "hire", feedback.hire);
  context.store.update("backing", hire.id, { feedback: null });
  offerHire(context, hire);
}

/**
 * Gives a hire to the oldest feedback that waits for it, or keeps the hire for the next feedback. If the buyer now
 * belongs to the seller, the waiting feedback becomes the agent's own.
 */
function offerHire(context: ApplyContext, hire: Pick<Row<"hire">, "id" | "seller" | "buyer" | "time">): void {
  const id = pairId(hire.seller, hire.buyer);
  const pair = context.store.get("feedbackPair", id);
  const waiting = pair === null ? [] : linesOf(pair);
  const eligible = waiting.filter((line) => timeIn(line) >= hire.time);
  // By now the buyer may belong to the seller, perhaps because of this hire.
  const reason = eligible.length === 0 ? null : belongsTo(context, hire.seller, hire.buyer);
  const decided = reason === null ? eligible.slice(0, 1) : eligible;
  for (const line of decided) {
    const feedback = feedbackRow(context, feedbackIn(line));
    if (reason === null) {
      back(context, feedback, hire.id);
    } else {
      context.store.update("feedback", feedback.id, { standing: "self", selfReason: reason });
      countInLink(context, feedback.link, { self: 1 });
    }
  }
  if (decided.length > 0) {
    const left = waiting.filter((line) => !decided.includes(line));
    saveWaiting(context, id, left);
  }
  if (reason !== null || decided.length === 0) append(context.store, freeHires(id), hire.id);
}

function back(context: ApplyContext, { id, link }: Row<"feedback">, hire: string): void {
  context.store.update("feedback", id, { standing: "backed", hire });
  countInLink(context, link, { backed: 1 });
  context.store.put("backing", { id: hire, feedback: id });
}

/**
 * Takes the first free hire of a pair, unless it was paid after `time`. Hires that an operator of audits arranged are
 * skipped and removed.
 */
function takeFree(context: ApplyContext, { id, taken }: Row<"feedbackPair">, time: number): string | null {
  for (let n = taken; ; n++) {
    const item = itemOf(context.store, freeHires(id), n);
    const hire = item === null ? null : context.store.get("hire", item);
    if (hire?.isCanary) continue;
    const isTaken = hire !== null && hire.time <= time;
    const passed = isTaken ? n + 1 : n;
    if (passed > taken) context.store.update("feedbackPair", id, { taken: passed });
    return isTaken ? item : null;
  }
}

function pairRow({ store }: ApplyContext, id: string): Row<"feedbackPair"> {
  const known = store.get("feedbackPair", id);
  if (known !== null) return known;
  const row = { id, waiting: "", taken: 0 };
  store.insert("feedbackPair", row);
  return row;
}

function saveWaiting({ store }: ApplyContext, id: string, waiting: readonly string[]): void {
  store.update("feedbackPair", id, { waiting: waiting.join("\n") });
}

function feedbackRow({ store }: ApplyContext, id: string): Row<"feedback"> {
  return existingRow(store, "feedback", id);
}

function linesOf({ waiting }: Row<"feedbackPair">): string[] {
  return waiting === "" ? [] : waiting.split("\n");
}

function lineOf({ block, log, time, id }: Row<"feedback">): string {
  return `${block} ${log} ${time} ${id}`;
}

function placeIn(line: string): Place {
  const [block, log] = line.split(" ");
  return { block: Number(block), log: Number(log) };
}

function timeIn(line: string): number {
  return Number(line.split(" ")[2]);
}

function feedbackIn(line: string): string {
  return line.split(" ")[3] as string;
}

function pairId(agent: string, client: string): string {
  return `${agent}/${client}`;
}

/** The list of a pair's free hires, in the order in which they became free. */
function freeHires(pair: string): string {
  return `backs/${pair}`;
}
