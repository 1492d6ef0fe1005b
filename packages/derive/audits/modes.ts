import type { ApplyContext } from "../applyContext.ts";
import { buyerGroupOf } from "../buyerGroups.ts";
import { clusterOf } from "../clusters.ts";
import { existingRow } from "../existingRow.ts";
import { knownFamily } from "../families/kinship.ts";
import { append, itemsOf } from "../lists.ts";
import { forEachRow } from "../loadedRows.ts";
import { addNumber, removeNumber, selectNumbers } from "../orderedSet.ts";
import { schedule } from "../schedule.ts";
import type { Row } from "../tables.ts";
import { isOperator } from "./auditRow.ts";
import { auditorAt, rosterOf, rosterSize } from "./rosters.ts";

/**
 * What a confirmed fail does (SHP §8.3.4). In `bootstrap` it has no effect until the operator decides. In a `mature`
 * capability it takes effect at once.
 */
export type AuditMode = "bootstrap" | "mature";

/** The audits of one capability by one operator. They have one mode. */
type Pool = { operator: string; capability: string };

export function modeOf(context: ApplyContext, operator: string, capability: string | null): AuditMode {
  const row = capability === null ? null : findMode(context, { operator, capability });
  return (row?.mode ?? "bootstrap") as AuditMode;
}

export function findMode(context: ApplyContext, pool: Pool): Row<"auditMode"> | null {
  return context.store.get("auditMode", rosterOf(pool.operator, pool.capability));
}

/** Called when an auditor was assigned. A capability's age counts from the first assignment. */
export function noteAssigned(context: ApplyContext, pool: Pool): void {
  const row = modeRow(context, pool);
  if (row.firstAssigned === null)
    context.store.update("auditMode", row.id, { firstAssigned: context.at.time });
}

/** Called when a verdict was given. The next tick checks whether the capability is mature. */
export function noteVerdict(context: ApplyContext, pool: Pool, auditor: string): void {
  const row = modeRow(context, pool);
  const { ticks } = context.state;
  if (row.touched !== ticks) append(context.store, judgedAt(ticks), row.id);
  context.store.update("auditMode", row.id, { touched: ticks });
  changeShare(context, row.id, auditor, 1);
  const due = context.at.time + context.params.audit.matureShareSeconds;
  schedule(context, due, "share", `${row.id} ${auditor}`);
}

/** Removes a verdict from its auditor's share, because it is too old. */
export function leaveShare(context: ApplyContext, pool: string, auditor: string): void {
  changeShare(context, pool, auditor, -1);
}

/**
 * At a tick, checks which of the capabilities with new verdicts are mature now. No capability goes back to bootstrap
 * by itself.
 */
export function settleModes(context: ApplyContext): void {
  forEachRow(itemsOf(context.store, judgedAt(context.state.ticks)), (id) => {
    const row = existingRow(context.store, "auditMode", id);
    if (row.mode === "bootstrap" && isOperator(context, row.operator) && isMature(context, row))
      changeMode(context, row, "mature");
  });
}

/**
 * Takes a capability back to bootstrap, which its operator has to justify (SHP §8.3.4.3). Its age starts again from
 * zero.
 */
export function backToBootstrap(
  context: ApplyContext,
  row: Row<"auditMode">,
  why: { justification: string; record: string },
): void {
  changeMode(context, row, "bootstrap", why);
  context.store.update("auditMode", row.id, { firstAssigned: null });
}

/** Whether this text justified an earlier change to bootstrap. A copy of an old record must have no effect. */
export function wasJustifiedBy(
  context: ApplyContext,
  { id, changes }: Row<"auditMode">,
  justification: string,
): boolean {
  for (let n = 0; n < changes; n++) {
    const change = existingRow(context.store, "auditModeChange", `${id}/${n}`);
    if (change.justification === justification) return true;
  }
  return false;
}

/** Checks all four conditions of SHP §8.3.4.1. The conditions that cost least are checked first. */
function isMature(
  context: ApplyContext,
  { id, firstAssigned, verdicts, auditors }: Row<"auditMode">,
): boolean {
  const { audit: params } = context.params;
  if (firstAssigned === null || context.at.time - firstAssigned < params.matureSeconds) return false;
  const size = rosterSize(context, id);
  if (size < params.matureAuditors) return false;
  if (verdicts > 0) {
    const [most = 0n] = selectNumbers(context.store, sharesOf(id), [auditors - 1]);
    const { numerator, denominator } = params.matureShare;
    if (most * BigInt(denominator) > BigInt(verdicts) * BigInt(numerator)) return false;
  }
  const owners = new Set<string>();
  for (let place = 0; place < size && owners.size < params.matureClusters; place++)
    owners.add(ownerOf(context, auditorAt(context, id, place)));
  return owners.size >= params.matureClusters;
}

/**
 * The presumed owner of an auditor: its buyer group if it is in a cluster, else the family whose money it began
 * with.
 */
function ownerOf(context: ApplyContext, auditor: string): string {
  for (const kind of ["ownership", "fingerprint"] as const)
    if (clusterOf(context, auditor, kind) !== null) return `group ${buyerGroupOf(context, auditor)}`;
  return `family ${knownFamily(context, auditor) ?? auditor}`;
}

function changeMode(
  context: ApplyContext,
  { id, operator, capability, mode: from, changes }: Row<"auditMode">,
  to: AuditMode,
  why: { justification: string; record: string } | null = null,
): void {
  const { block, time } = context.at;
  context.store.insert("auditModeChange", {
    ...{ id: `${id}/${changes}`, operator, capability, from, to, block, time },
    justification: why?.justification ?? null,
    record: why?.record ?? null,
  });
  context.store.update("auditMode", id, { mode: to, changes: changes + 1 });
}

function changeShare(context: ApplyContext, pool: string, auditor: string, by: 1 | -1): void {
  const row = existingRow(context.store, "auditMode", pool);
  context.store.update("auditMode", pool, { verdicts: row.verdicts + by });
  const id = `${pool}/${auditor}`;
  const before = context.store.get("auditShare", id)?.verdicts ?? 0;
  const verdicts = before + by;
  context.store.put("auditShare", { id, verdicts });
  if (before > 0) removeNumber(context.store, sharesOf(pool), BigInt(before));
  if (verdicts > 0) addNumber(context.store, sharesOf(pool), BigInt(verdicts));
  const change = Number(verdicts > 0) - Number(before > 0);
  if (change !== 0) context.store.update("auditMode", pool, { auditors: row.auditors + change });
}

function modeRow(context: ApplyContext, { operator, capability }: Pool): Row<"auditMode"> {
  const known = findMode(context, { operator, capability });
  if (known !== null) return known;
  const row: Row<"auditMode"> = {
    id: rosterOf(operator, capability),
    operator,
    capability,
    mode: "bootstrap",
    changes: 0,
    firstAssigned: null,
    verdicts: 0,
    auditors: 0,
    touched: null,
  };
  context.store.insert("auditMode", row);
  return row;
}

/** The name of the ordered set that counts each auditor's recent verdicts. */
function sharesOf(pool: string): string {
  return `auditShares/${pool}`;
}

function judgedAt(tick: number): string {
  return `auditsJudged/${tick}`;
}
