import type { ApplyContext } from "../applyContext.ts";
import { append, itemOf } from "../lists.ts";
import { isBefore, type Place, placeOf } from "../place.ts";
import type { Row } from "../tables.ts";
import { countInLink } from "./identities.ts";
import { belongsTo } from "./self.ts";

/**
 * Most feedback of one client on one agent that waits for a hire at a time. Further feedback stays unproven.
 * So a hire never searches a long list.
 */
export const MOST_WAITING = 100;

/**
 * A hire was counted. It backs the oldest waiting feedback of its buyer on its seller that is not older than
 * the payment. Without one it backs the next such feedback.
 */
export async function hireMayBack(
  context: ApplyContext,
  hire: Pick<Row<"hire">, "id" | "seller" | "buyer" | "time">,
): Promise<void> {
  if (context.state.registries) await letGo(context, hire);
}

/** A hire turned out to be arranged by an operator of audits, so it backs nothing any more. */
export async function hireBacksNoMore(context: ApplyContext, id: string): Promise<void> {
  const row = context.state.registries ? await context.store.get("backing", id) : null;
  if (row === null || row.feedback === null) return;
  await context.store.update("backing", id, { feedback: null });
  const feedback = await feedbackRow(context, row.feedback);
  await context.store.update("feedback", feedback.id, { standing: "unproven", hire: null });
  await countInLink(context, feedback.link, { backed: -1 });
  await findBacking(context, feedback);
}

/**
 * Gives a free hire of its pair to a feedback that is not the agent's own, or lets the feedback wait for a
 * hire.
 */
export async function findBacking(context: ApplyContext, feedback: Row<"feedback">): Promise<void> {
  if (feedback.agent === null) return;
  const pair = await pairRow(context, pairId(feedback.agent, feedback.client));
  const hire = await takeFree(context, pair);
  if (hire !== null) return back(context, feedback, hire);
  const waiting = linesOf(pair);
  if (waiting.length >= MOST_WAITING) return;
  const line = lineOf(feedback);
  const at = waiting.findIndex((it) => isBefore(placeOf(feedback), placeIn(it)));
  waiting.splice(at === -1 ? waiting.length : at, 0, line);
  await saveWaiting(context, pair.id, waiting);
}

/** A feedback was revoked: it no longer waits, and its hire may back another feedback. */
export async function leaveBacking(context: ApplyContext, feedback: Row<"feedback">): Promise<void> {
  if (feedback.agent === null) return;
  if (feedback.hire === null) {
    const pair = await pairRow(context, pairId(feedback.agent, feedback.client));
    const waiting = linesOf(pair);
    const left = waiting.filter((it) => it !== lineOf(feedback));
    if (left.length < waiting.length) await saveWaiting(context, pair.id, left);
    return;
  }
  const hire = await context.store.get("hire", feedback.hire);
  if (hire === null) throw new Error(`There is no hire ${feedback.hire}.`);
  await context.store.update("backing", hire.id, { feedback: null });
  await letGo(context, hire);
}

/** Gives a hire to the oldest feedback that waits for it, or keeps the hire for the next feedback. */
async function letGo(
  context: ApplyContext,
  hire: Pick<Row<"hire">, "id" | "seller" | "buyer" | "time">,
): Promise<void> {
  const id = pairId(hire.seller, hire.buyer);
  const pair = await context.store.get("feedbackPair", id);
  const waiting = pair === null ? [] : linesOf(pair);
  const eligible = waiting.filter((line) => timeIn(line) >= hire.time);
  // Meanwhile, even by this hire, the buyer may turn out to belong to the seller.
  const reason = eligible.length === 0 ? null : await belongsTo(context, hire.seller, hire.buyer);
  const decided = reason === null ? eligible.slice(0, 1) : eligible;
  for (const line of decided) {
    const feedback = await feedbackRow(context, feedbackIn(line));
    if (reason === null) {
      await back(context, feedback, hire.id);
    } else {
      await context.store.update("feedback", feedback.id, { standing: "self", selfReason: reason });
      await countInLink(context, feedback.link, { self: 1 });
    }
  }
  if (decided.length > 0) {
    const left = waiting.filter((line) => !decided.includes(line));
    await saveWaiting(context, id, left);
  }
  if (reason !== null || decided.length === 0) await append(context.store, freeHires(id), hire.id);
}

async function back(context: ApplyContext, { id, link }: Row<"feedback">, hire: string): Promise<void> {
  await context.store.update("feedback", id, { standing: "backed", hire });
  await countInLink(context, link, { backed: 1 });
  if ((await context.store.get("backing", hire)) === null)
    await context.store.insert("backing", { id: hire, feedback: id });
  else await context.store.update("backing", hire, { feedback: id });
}

/** Takes the first free hire of a pair. Hires that an operator of audits arranged are skipped and removed. */
async function takeFree(context: ApplyContext, { id, taken }: Row<"feedbackPair">): Promise<string | null> {
  for (let n = taken; ; n++) {
    const hire = await itemOf(context.store, freeHires(id), n);
    const isCanary = hire !== null && (await context.store.get("hire", hire))?.isCanary === true;
    if (isCanary) continue;
    const passed = hire === null ? n : n + 1;
    if (passed > taken) await context.store.update("feedbackPair", id, { taken: passed });
    return hire;
  }
}

async function pairRow({ store }: ApplyContext, id: string): Promise<Row<"feedbackPair">> {
  const known = await store.get("feedbackPair", id);
  if (known !== null) return known;
  const row = { id, waiting: "", taken: 0 };
  await store.insert("feedbackPair", row);
  return row;
}

async function saveWaiting({ store }: ApplyContext, id: string, waiting: readonly string[]): Promise<void> {
  await store.update("feedbackPair", id, { waiting: waiting.join("\n") });
}

async function feedbackRow({ store }: ApplyContext, id: string): Promise<Row<"feedback">> {
  const row = await store.get("feedback", id);
  if (row === null) throw new Error(`There is no feedback ${id}.`);
  return row;
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
  return line.split(" ")[3] ?? "";
}

function pairId(agent: string, client: string): string {
  return `${agent}/${client}`;
}

/** The list of a pair's free hires, in the order in which they became free. */
function freeHires(pair: string): string {
  return `backs/${pair}`;
}
