import type { ApplyContext } from "../applyContext.ts";
import { append, itemsOf, listLength } from "../lists.ts";
import { isBefore, type Place } from "../place.ts";

// What holds no more is kept with until where it held, so that a transfer that is told later can be judged by it. What the first line
// says holds from the first block.

/** Notes until where the parameters held that new ones replace. */
export function noteParams(context: ApplyContext): Promise<void> {
  return noteUntil(context, PARAMS, JSON.stringify(context.params));
}

/** The parameters that held at a place, as JSON; null when they hold still. */
export function paramsUntil(context: ApplyContext, place: Place): Promise<string | null> {
  return heldAt(context, PARAMS, place);
}

/** All parameters that hold no more, as JSON. */
export async function* formerParams({ store }: ApplyContext): AsyncGenerator<string> {
  if ((await listLength(store, PARAMS)) === 0) return;
  for await (const item of itemsOf(store, PARAMS)) yield readUntil(item).what;
}

/** Notes until where a wallet was what it is no more: `hub`, `escrow` or nothing of these. */
export function noteKind(context: ApplyContext, wallet: string, kind: string | null): Promise<void> {
  return noteUntil(context, kindsOf(wallet), kind ?? NEITHER);
}

/** What a wallet was at a place: `hub`, `escrow`, or null for neither; undefined when it is still what it was then. */
export async function kindUntil(
  context: ApplyContext,
  wallet: string,
  place: Place,
): Promise<string | null | undefined> {
  const kind = await heldAt(context, kindsOf(wallet), place);
  return kind === null ? undefined : kind === NEITHER ? null : kind;
}

const PARAMS = "until/params";
const NEITHER = "-";

function kindsOf(wallet: string): string {
  return `until/${wallet}`;
}

function noteUntil({ store, at }: ApplyContext, list: string, what: string): Promise<void> {
  return append(store, list, `${at.block} ${at.log ?? 0} ${what}`);
}

/** What ended first after a place held there; null when it holds still. */
async function heldAt({ store }: ApplyContext, list: string, place: Place): Promise<string | null> {
  if ((await listLength(store, list)) === 0) return null;
  for await (const item of itemsOf(store, list)) {
    const { until, what } = readUntil(item);
    if (isBefore(place, until)) return what;
  }
  return null;
}

function readUntil(item: string): { until: Place; what: string } {
  const [block, log, ...what] = item.split(" ");
  return { until: { block: Number(block), log: Number(log) }, what: what.join(" ") };
}
