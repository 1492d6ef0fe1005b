import type { ApplyContext } from "../../applyContext.ts";
import { DEEP } from "../../families/familyOf.ts";
import { knownFamily } from "../../families/kinship.ts";
import { append } from "../../lists.ts";
import type { Row } from "../../tables.ts";
import { dayOf } from "../days.ts";
import { changeLatency, noteFamily, type SlaPart } from "./slaFamilies.ts";

/** The list of hires of an agent's day that count for SLAs. */
export function slaHiresOf(agent: string, day: number): string {
  return `slaHires/${agent}/${day}`;
}

/** The ordered set of the latencies of a day, `<agent>/<day>`, in milliseconds. */
export function latenciesOf(day: string): string {
  return `slaLatency/${day}`;
}

const NOTHING: SlaPart = { ok: 0, failed: 0, latency: null };

/**
 * Called when a hire is counted, or when more became known of it. `before` is what was known earlier. Updates the day
 * of a seller that had promises before that day.
 */
export function noteForSla(
  context: ApplyContext,
  before: { hire: Row<"hire">; isExcused: boolean } | null,
  after: { hire: Row<"hire">; isExcused: boolean },
): void {
  const { seller, buyerFamily, time, id: hireId } = after.hire;
  const sla = context.store.get("sla", seller);
  const day = dayOf(time);
  if (sla === null || day <= sla.firstDay) return;
  // A hire inside one funding family does not count either.
  if (knownFamily(context, seller) === buyerFamily) return;
  const [was, is] = [before === null ? NOTHING : partOf(before), partOf(after)];
  const wasIn = before !== null && before.hire.clusterSize === 1;
  if (!wasIn && after.hire.clusterSize === 1) append(context.store, slaHiresOf(seller, day), hireId);
  if (was.ok === is.ok && was.failed === is.failed && was.latency === is.latency) return;
  const row = dayRow(context, `${seller}/${day}`);
  const latencies = changeLatency(context.store, latenciesOf(row.id), was.latency, is.latency);
  context.store.update("slaDay", row.id, {
    ok: row.ok + is.ok - was.ok,
    failed: row.failed + is.failed - was.failed,
    latencies: row.latencies + latencies,
    ...(buyerFamily !== DEEP && noteFamily(context.store, row, buyerFamily, was, is)),
  });
}

function dayRow({ store }: ApplyContext, id: string): Row<"slaDay"> {
  const known = store.get("slaDay", id);
  if (known !== null) return known;
  const counts = { ok: 0, failed: 0, latencies: 0, failingFamilies: 0, slowFamilies: 0 };
  const row = { id, ...counts, failing: "", slowest: "" };
  store.insert("slaDay", row);
  return row;
}

/** A hire does not count if it is inside one cluster, or if an operator of audits had arranged it. */
function partOf({ hire, isExcused }: { hire: Row<"hire">; isExcused: boolean }): SlaPart {
  if (hire.clusterSize !== 1 || hire.isCanary) return NOTHING;
  return {
    ok: hire.outcome === "success" ? 1 : 0,
    failed: isFailure(hire, isExcused) ? 1 : 0,
    latency: hire.latencyMs,
  };
}

function isFailure(hire: Row<"hire">, isExcused: boolean): boolean {
  return hire.outcome === "failure" && !(isExcused && hire.evidence !== "audit");
}
