import type { ApplyContext } from "../applyContext.ts";
import { existingRow } from "../existingRow.ts";
import { append, itemIn, itemsOf, itemsUpTo, type ListEnd, withItem } from "../lists.ts";
import { forEachRow } from "../loadedRows.ts";
import type { Store } from "../store.ts";
import type { Row } from "../tables.ts";
import { drawNumber, drawnPlaces } from "./drawnPlaces.ts";

/** The two kinds of queues: hires that became eligible, and passed audits that may be judged again. */
export type QueueKind = "sample" | "recheck";

/** Puts a hire in the queue from which the next tick draws, at the present rate. */
export function enqueue(
  context: ApplyContext,
  kind: QueueKind,
  { hire, operator, ppm }: { hire: string; operator: string; ppm: number },
): void {
  const id = queueId(kind, operator, ppm);
  const { block } = context.at;
  const row = context.store.get("auditQueue", id);
  const { ticks } = context.state;
  if (row?.touched !== ticks) append(context.store, queuesAt(ticks), id);
  if (row === null) {
    const queue = { id, start: 0, length: 1, before: 0, block, touched: ticks, tail: hire };
    context.store.insert("auditQueue", queue);
    return;
  }
  const before = row.block === block ? row.before : row.length;
  const end = withItem(context.store, endOf(row), hire);
  context.store.update("auditQueue", id, { ...end, before, block, touched: ticks });
}

/**
 * Draws at a tick. A hire that joined a queue in the tick's own block waits for the next tick. The maker of that
 * block knows the block's hash, and may have added the hire for that reason. A tick without a hash draws nothing, so
 * everything waits for the next tick.
 */
export function drawQueues(
  context: ApplyContext,
  hash: string | undefined,
  take: (kind: QueueKind, hire: string, isDrawn: boolean) => void,
): void {
  forEachRow(itemsOf(context.store, queuesAt(context.state.ticks)), (id) => {
    const queue = existingRow(context.store, "auditQueue", id);
    const end =
      hash === undefined ? queue.start : queue.block === context.at.block ? queue.before : queue.length;
    if (hash !== undefined) drawQueue(context, queue, hash, end, take);
    if (end < queue.length) touch(context, queue, context.state.ticks + 1);
  });
}

function drawQueue(
  context: ApplyContext,
  queue: Row<"auditQueue">,
  hash: string,
  end: number,
  take: (kind: QueueKind, hire: string, isDrawn: boolean) => void,
): void {
  const { id, start } = queue;
  const [kind, operator, ppm] = id.split("/") as [QueueKind, string, string];
  context.store.update("auditQueue", id, { start: end });
  const number = drawNumber(context.sha256Hex, [`tallystick/audit/${kind}/v1`, hash, operator, ppm]);
  const drawn = drawnPlaces(end - start, Number(ppm), number);
  // In a sample, only the drawn hires matter. Among passed audits, those that are not drawn matter too, because they
  // end.
  if (kind === "sample") {
    forEachRow(drawn, (place) => take(kind, hireAt(context, queue, start + place), true));
    return;
  }
  const places = new Set(drawn);
  forEachRow(Array(end - start).keys(), (n) => take(kind, hireAt(context, queue, start + n), places.has(n)));
}

function hireAt(context: ApplyContext, queue: Row<"auditQueue">, n: number): string {
  return itemIn(context.store, endOf(queue), n) as string;
}

function touch(context: ApplyContext, { id, touched }: Row<"auditQueue">, tick: number): void {
  if (touched === tick) return;
  context.store.update("auditQueue", id, { touched: tick });
  append(context.store, queuesAt(tick), id);
}

/** All hires that ever waited for a draw at a rate, in order. A draw is verified by their places in this order. */
export function* queuedHires(
  store: Store,
  kind: QueueKind,
  { operator, ppm }: { operator: string; ppm: number },
): Generator<string> {
  const queue = store.get("auditQueue", queueId(kind, operator, ppm));
  if (queue !== null) yield* itemsUpTo(store, endOf(queue));
}

function queueId(kind: QueueKind, operator: string, ppm: number): string {
  return `${kind}/${operator}/${ppm}`;
}

/** The items of a queue are a list. The row of the queue holds the end of this list. */
function endOf({ id, length, tail }: Row<"auditQueue">): ListEnd {
  return { id: `queued/${id}`, length, tail };
}

function queuesAt(tick: number): string {
  return `auditQueues/${tick}`;
}
