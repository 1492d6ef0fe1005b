import type { ApplyContext } from "../applyContext.ts";
import { buyerGroupOf } from "../buyerGroups.ts";
import { clusterOf } from "../clusters.ts";
import { knownFamily } from "../families/kinship.ts";
import { append, itemsOf } from "../lists.ts";
import { addNumber, removeNumber, selectNumbers } from "../orderedSet.ts";
import { schedule } from "../schedule.ts";
import type { Row } from "../tables.ts";
import { isOperator } from "./auditRow.ts";
import { auditorAt, rosterOf, rosterSize } from "./rosters.ts";

/**
 * What a confirmed fail does: in `bootstrap` nothing until the operator decides, when `mature` it takes effect at once (SHP
 * §8.3.4).
 */
export type AuditMode = "bootstrap" | "mature";

/** The audits of a capability, as far as its mode depends on them. */
type Pool = { operator: string; capability: string };

export async function modeOf(
  context: ApplyContext,
  operator: string,
  capability: string | null,
): Promise<AuditMode> {
  const row = capability === null ? null : await findMode(context, { operator, capability });
  return (row?.mode ?? "bootstrap") as AuditMode;
}

export async function findMode(context: ApplyContext, pool: Pool): Promise<Row<"auditMode"> | null> {
  return context.store.get("auditMode", rosterOf(pool.operator, pool.capability));
}

/** An auditor was assigned. A capability's age counts from the first assignment. */
export async function noteAssigned(context: ApplyContext, pool: Pool): Promise<void> {
  const row = await modeRow(context, pool);
  if (row.firstAssigned === null)
    await context.store.update("auditMode", row.id, { firstAssigned: context.at.time });
}

/** A verdict was given: the next tick checks whether the capability is mature. */
export async function noteVerdict(context: ApplyContext, pool: Pool, auditor: string): Promise<void> {
  const row = await modeRow(context, pool);
  const { ticks } = context.state;
  if (row.touched !== ticks) await append(context.store, judgedAt(ticks), row.id);
  await context.store.update("auditMode", row.id, { touched: ticks });
  await changeShare(context, row.id, auditor, 1);
  const due = context.at.time + context.params.audit.matureShareSeconds;
  await schedule(context, Math.max(due, context.state.time + 1), "share", `${row.id} ${auditor}`);
}

/** A verdict leaves its auditor's share. */
export function leaveShare(context: ApplyContext, pool: string, auditor: string): Promise<void> {
  return changeShare(context, pool, auditor, -1);
}

/** At a tick, checks which of the capabilities with new verdicts are mature now. No capability goes back by itself. */
export async function settleModes(context: ApplyContext): Promise<void> {
  for await (const id of itemsOf(context.store, judgedAt(context.state.ticks))) {
    const row = await context.store.get("auditMode", id);
    if (row?.mode === "bootstrap" && isOperator(context, row.operator) && (await isMature(context, row)))
      await changeMode(context, row, "mature");
  }
}

/**
 * Takes a capability back to bootstrap, which its operator has to justify (SHP §8.3.4.3). Its age starts again from zero.
 */
export async function backToBootstrap(
  context: ApplyContext,
  row: Row<"auditMode">,
  why: { justification: string; record: string },
): Promise<void> {
  await changeMode(context, row, "bootstrap", why);
  await context.store.update("auditMode", row.id, { firstAssigned: null });
}

/** Whether this record took a capability back before: an old record has no effect a second time. */
export async function wasJustifiedBy(
  context: ApplyContext,
  { id, changes }: Row<"auditMode">,
  justification: string,
): Promise<boolean> {
  for (let n = 0; n < changes; n++) {
    const change = await context.store.get("auditModeChange", `${id}/${n}`);
    if (change?.justification === justification) return true;
  }
  return false;
}

/** SHP §8.3.4.1, all four conditions; the cheapest come first. */
async function isMature(
  context: ApplyContext,
  { id, firstAssigned, verdicts, auditors }: Row<"auditMode">,
): Promise<boolean> {
  const { audit: params } = context.params;
  if (firstAssigned === null || context.at.time - firstAssigned < params.matureSeconds) return false;
  const size = await rosterSize(context, id);
  if (size < params.matureAuditors) return false;
  if (verdicts > 0) {
    const [most = 0n] = await selectNumbers(context.store, sharesOf(id), [auditors - 1]);
    const { numerator, denominator } = params.matureShare;
    if (most * BigInt(denominator) > BigInt(verdicts) * BigInt(numerator)) return false;
  }
  const owners = new Set<string>();
  for (let place = 0; place < size && owners.size < params.matureClusters; place++)
    owners.add(await ownerOf(context, await auditorAt(context, id, place)));
  return owners.size >= params.matureClusters;
}

/** What stands behind an auditor: its clusters, as one buyer. Without a cluster it is the family of the money that it began with. */
async function ownerOf(context: ApplyContext, auditor: string): Promise<string> {
  for (const kind of ["ownership", "fingerprint"] as const)
    if ((await clusterOf(context, auditor, kind)) !== null)
      return `group ${await buyerGroupOf(context, auditor)}`;
  return `family ${(await knownFamily(context, auditor)) ?? auditor}`;
}

async function changeMode(
  context: ApplyContext,
  { id, operator, capability, mode: from, changes }: Row<"auditMode">,
  to: AuditMode,
  why: { justification: string; record: string } | null = null,
): Promise<void> {
  const { block, time } = context.at;
  await context.store.insert("auditModeChange", {
    ...{ id: `${id}/${changes}`, operator, capability, from, to, block, time },
    justification: why?.justification ?? null,
    record: why?.record ?? null,
  });
  await context.store.update("auditMode", id, { mode: to, changes: changes + 1 });
}

async function changeShare(context: ApplyContext, pool: string, auditor: string, by: 1 | -1): Promise<void> {
  const row = await context.store.get("auditMode", pool);
  if (row === null) throw new Error(`Nobody was judged in ${pool}.`);
  await context.store.update("auditMode", pool, { verdicts: row.verdicts + by });
  const id = `${pool}/${auditor}`;
  const share = await context.store.get("auditShare", id);
  const before = share?.verdicts ?? 0;
  const verdicts = before + by;
  if (share === null) await context.store.insert("auditShare", { id, verdicts });
  else await context.store.update("auditShare", id, { verdicts });
  if (before > 0) await removeNumber(context.store, sharesOf(pool), BigInt(before));
  if (verdicts > 0) await addNumber(context.store, sharesOf(pool), BigInt(verdicts));
  const change = Number(verdicts > 0) - Number(before > 0);
  if (change !== 0) await context.store.update("auditMode", pool, { auditors: row.auditors + change });
}

async function modeRow(context: ApplyContext, { operator, capability }: Pool): Promise<Row<"auditMode">> {
  const known = await findMode(context, { operator, capability });
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
  await context.store.insert("auditMode", row);
  return row;
}

/** The ordered set of how many recent verdicts each auditor gave. */
function sharesOf(pool: string): string {
  return `auditShares/${pool}`;
}

function judgedAt(tick: number): string {
  return `auditsJudged/${tick}`;
}
