import type { ApplyContext } from "../../applyContext.ts";
import { areKin } from "../../families/kinship.ts";
import { append } from "../../lists.ts";
import type { Row } from "../../tables.ts";
import { dayOf } from "../days.ts";

/** The list of hires of an agent's day that count for SLAs. */
export function slaHiresOf(agent: string, day: number): string {
  return `slaHires/${agent}/${day}`;
}

type Part = { ok: number; failed: number; latency: number | null };
const NOTHING: Part = { ok: 0, failed: 0, latency: null };

/**
 * A hire is counted, or more became known of it (`before`). Updates the day of a seller that had promises
 * before that day.
 */
export function noteForSla(
  context: ApplyContext,
  before: { hire: Row<"hire">; isExcused: boolean } | null,
  after: { hire: Row<"hire">; isExcused: boolean },
): void {
  const { seller, buyer, time, id: hireId } = after.hire;
  const sla = context.store.get("sla", seller);
  const day = dayOf(time);
  if (sla === null || day <= sla.firstDay) return;
  // A hire inside one funding family does not count either.
  if (areKin(context, seller, buyer)) return;
  const [was, is] = [before === null ? NOTHING : partOf(before), partOf(after)];
  const wasIn = before !== null && before.hire.clusterSize === 1;
  if (!wasIn && after.hire.clusterSize === 1) append(context.store, slaHiresOf(seller, day), hireId);
  if (was.ok === is.ok && was.failed === is.failed && was.latency === is.latency) return;
  const id = `${seller}/${day}`;
  const row = context.store.get("slaDay", id);
  const latencies = parseLatencies(row?.latencies ?? "");
  count(latencies, was.latency, -1);
  count(latencies, is.latency, 1);
  const change = {
    ok: (row?.ok ?? 0) + is.ok - was.ok,
    failed: (row?.failed ?? 0) + is.failed - was.failed,
    latencies: formatLatencies(latencies),
  };
  if (row === null) context.store.insert("slaDay", { id, ...change });
  else context.store.update("slaDay", id, change);
}

/** A hire inside one cluster does not count. */
function partOf({ hire, isExcused }: { hire: Row<"hire">; isExcused: boolean }): Part {
  if (hire.clusterSize !== 1) return NOTHING;
  return {
    ok: hire.outcome === "success" ? 1 : 0,
    failed: isFailure(hire, isExcused) ? 1 : 0,
    latency: hire.latencyMs,
  };
}

export function isFailure(hire: Row<"hire">, isExcused: boolean): boolean {
  return hire.outcome === "failure" && !(isExcused && hire.evidence !== "audit");
}

/** Parses the latencies: the number of hires by milliseconds. */
export function parseLatencies(text: string): Map<number, number> {
  const counts = new Map<number, number>();
  if (text === "") return counts;
  for (const item of text.split(",")) {
    const [ms, n] = item.split(":");
    counts.set(Number(ms), Number(n));
  }
  return counts;
}

function count(latencies: Map<number, number>, ms: number | null, by: number): void {
  if (ms === null) return;
  const left = (latencies.get(ms) ?? 0) + by;
  if (left === 0) latencies.delete(ms);
  else latencies.set(ms, left);
}

function formatLatencies(latencies: Map<number, number>): string {
  return [...latencies].map(([ms, n]) => `${ms}:${n}`).join(",");
}
