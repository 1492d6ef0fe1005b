import type { ApplyContext } from "../applyContext.ts";
import { append, itemsOf } from "../lists.ts";
import { isBefore, type Place } from "../place.ts";
import type { Store } from "../store.ts";

// Past states are stored with the position at which they ended. So a transfer that is added to the log later
// can be judged by the state at its own time. The first stored state of a list is in force from the first block.

/** Notes the position at which the replaced parameters ended. */
export function noteParams(context: ApplyContext): void {
  noteUntil(context, PARAMS, JSON.stringify(context.params));
}

/** The parameters in force at a position, as JSON; null if they are still in force. */
export function paramsUntil(context: ApplyContext, place: Place): string | null {
  return heldAt(context, PARAMS, place);
}

/** All earlier parameters, as JSON. */
export function* formerParams({ store }: { store: Pick<Store, "get"> }): Generator<string> {
  for (const item of itemsOf(store, PARAMS)) yield readUntil(item).what;
}

/** Notes that a wallet was of this kind until now: `hub`, `escrow`, or null for neither. */
export function noteKind(context: ApplyContext, wallet: string, kind: string | null): void {
  noteUntil(context, kindsOf(wallet), kind ?? NEITHER);
}

/** What a wallet was at a position: `hub`, `escrow`, or null for neither; undefined when it has not changed since. */
export function kindUntil(context: ApplyContext, wallet: string, place: Place): string | null | undefined {
  const kind = heldAt(context, kindsOf(wallet), place);
  return kind === null ? undefined : kind === NEITHER ? null : kind;
}

const PARAMS = "until/params";
const NEITHER = "-";

function kindsOf(wallet: string): string {
  return `until/${wallet}`;
}

function noteUntil({ store, at }: ApplyContext, list: string, what: string): void {
  append(store, list, `${at.block} ${at.log ?? 0} ${what}`);
}

/** The state that was in force at a position; null when it still is. */
function heldAt({ store }: ApplyContext, list: string, place: Place): string | null {
  for (const item of itemsOf(store, list)) {
    const { until, what } = readUntil(item);
    if (isBefore(place, until)) return what;
  }
  return null;
}

function readUntil(item: string): { until: Place; what: string } {
  const [block, log, ...what] = item.split(" ");
  return { until: { block: Number(block), log: Number(log) }, what: what.join(" ") };
}
