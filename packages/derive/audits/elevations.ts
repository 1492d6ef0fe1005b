import type { ApplyContext } from "../applyContext.ts";
import { append, itemsOf } from "../lists.ts";
import { forEachRow } from "../loadedRows.ts";

/**
 * Stores until when hires of a cluster are drawn more often (SHP §8.3.1), if this time is later than the stored one.
 * Each verification version has its own time. An agent has such times too, for the clusters that it joins later. A
 * cluster's time is the latest of its members' times. When clusters merge, the merged cluster takes the latest time.
 * When a cluster splits, its time is computed again.
 */
export function raiseElevation(context: ApplyContext, who: string, version: string, until: number): void {
  const id = idOf(who, version);
  const row = context.store.get("elevation", id);
  if (row === null) {
    context.store.insert("elevation", { id, until });
    append(context.store, versionsOf(who), encodeURIComponent(version));
  } else if (row.until < until) context.store.update("elevation", id, { until });
}

/** The time that {@link raiseElevation} stored; 0 if there is none. */
export function elevatedUntil(context: ApplyContext, who: string, version: string): number {
  return context.store.get("elevation", idOf(who, version))?.until ?? 0;
}

/** Called when an agent or another cluster joins a cluster. */
export function elevateWith(context: ApplyContext, cluster: string, joined: string): void {
  forEachRow(versionsIn(context, joined), (version) => {
    const row = context.store.get("elevation", idOf(joined, version));
    if (row !== null && row.until > context.at.time) raiseElevation(context, cluster, version, row.until);
  });
}

/** Called when a cluster splits. Each remaining member sets the cluster's time again. */
export function clearElevations(context: ApplyContext, cluster: string): void {
  forEachRow(versionsIn(context, cluster), (version) =>
    context.store.update("elevation", idOf(cluster, version), { until: 0 }),
  );
}

/**
 * A version is any text that a seller writes. It may have several lines, but an item of a list has only one line. So
 * the items are encoded.
 */
function versionsIn(context: ApplyContext, who: string): string[] {
  return [...itemsOf(context.store, versionsOf(who))].map(decodeURIComponent);
}

function idOf(who: string, version: string): string {
  return `${who}/${version}`;
}

function versionsOf(who: string): string {
  return `elevated/${who}`;
}
