import type { Row } from "tallystick-derive/tables";
import type { Draw } from "./checkDraw.ts";
import type { DerivedLog } from "./derivedLog.ts";

/** An audit, its draw, and all auditors that were asked. */
type Derived = { audit: Row<"audit">; draw: Draw | null; asked: readonly Row<"auditAssignment">[] };

/**
 * The blocks of all ticks that could decide something about an audit: while it waited for its draw, for an auditor, or for
 * the draw that decides whether it is judged again. A node that gives one of these ticks another hash, or no hash, chooses
 * the result. The ticks that drew the hire and its auditors come first.
 */
export function ticksOfAudit(
  { ticks, history }: Pick<DerivedLog, "ticks" | "history">,
  { audit, draw, asked }: Derived,
): number[] {
  const { eligibleBlock, drawnBlock } = audit;
  const end = audit.closedTime ?? Number.POSITIVE_INFINITY;
  const lastDraw = draw?.tick.block ?? drawnBlock ?? Number.POSITIVE_INFINITY;
  const ordered = asked.toSorted((a, b) => a.block - b.block);
  const verdictSeconds = Math.min(...history.map(({ params }) => params.audit.verdictSeconds));
  const waited = ticks.filter(({ block, time }) => {
    if (time > end) return false;
    if (block > eligibleBlock && block <= lastDraw) return true;
    if (drawnBlock === null || block < drawnBlock) return false;
    const last = ordered.findLast((it) => it.block < block);
    // It waits again from the auditor's verdict on, or from the end of the time for it.
    return last === undefined || time >= Math.min(last.verdictTime ?? end, last.time + verdictSeconds);
  });
  // An operator that judges by itself is asked by its own record, and by no tick.
  const drawn = ordered.filter(({ auditorType }) => auditorType === "auditor");
  // What waited at a tick without a hash is in the next draw too. So the last tick before the hire joined a queue decides
  // its place there.
  const before = [
    ticks.findLast(({ block }) => block <= eligibleBlock),
    ...ordered.map(({ verdictTime }) =>
      ticks.findLast(({ time }) => verdictTime !== null && time < verdictTime),
    ),
  ].filter((it) => it !== undefined);
  const decided = [...(draw === null ? [] : [draw.tick]), ...drawn, ...before];
  return [...new Set([...decided, ...waited].map(({ block }) => block))];
}
