import { schedule } from "../agenda.ts";
import { append, itemsOf } from "../lists.ts";
import { addNumber, removeNumber, selectNumbers } from "../orderedSet.ts";
import { partyOf } from "../parties.ts";
import type { Step } from "../step.ts";
import type { Row } from "../tables.ts";
import { isOperator } from "./auditRow.ts";
import { auditorAt, rosterOf, rosterSize } from "./rosters.ts";

/** What a confirmed fail does: in `bootstrap` nothing before its operator decides, when `mature` at once (SHP §8.3.4). */
export type AuditMode = "bootstrap" | "mature";

/** The audits of a capability, as far as their mode goes by them. */
type Pool = { operator: string; capability: string };

export async function modeOf(step: Step, operator: string, capability: string | null): Promise<AuditMode> {
  const row = capability === null ? null : await findMode(step, { operator, capability });
  return (row?.mode ?? "bootstrap") as AuditMode;
}

export async function findMode(step: Step, pool: Pool): Promise<Row<"auditMode"> | null> {
  return step.store.get("auditMode", rosterOf(pool.operator, pool.capability));
}

/** Somebody was drawn: from the first time on the capability gets older. */
export async function noteAssigned(step: Step, pool: Pool): Promise<void> {
  const row = await modeRow(step, pool);
  if (row.firstAssigned === null)
    await step.store.update("auditMode", row.id, { firstAssigned: step.at.time });
}

/** A verdict was given: the next tick looks whether the capability is mature. */
export async function noteVerdict(step: Step, pool: Pool, auditor: string): Promise<void> {
  const row = await modeRow(step, pool);
  const { ticks } = step.state;
  if (row.touched !== ticks) await append(step.store, judgedAt(ticks), row.id);
  await step.store.update("auditMode", row.id, { touched: ticks });
  await changeShare(step, row.id, auditor, 1);
  const due = step.at.time + step.params.audit.matureShareSeconds;
  await schedule(step, Math.max(due, step.state.time + 1), "share", `${row.id} ${auditor}`);
}

/** A verdict is too old to be in its auditor's share. */
export function leaveShare(step: Step, pool: string, auditor: string): Promise<void> {
  return changeShare(step, pool, auditor, -1);
}

/** Looks at a tick which of the capabilities that were judged since the last one are mature now. None goes back by itself. */
export async function settleModes(step: Step): Promise<void> {
  for await (const id of itemsOf(step.store, judgedAt(step.state.ticks))) {
    const row = await step.store.get("auditMode", id);
    if (row?.mode === "bootstrap" && isOperator(step, row.operator) && (await isMature(step, row)))
      await changeMode(step, row, "mature");
  }
}

/** Takes a capability back to bootstrap, which its operator has to justify (SHP §8.3.4.3). It gets older again from nothing. */
export async function backToBootstrap(
  step: Step,
  row: Row<"auditMode">,
  why: { justification: string; record: string },
): Promise<void> {
  await changeMode(step, row, "bootstrap", why);
  await step.store.update("auditMode", row.id, { firstAssigned: null });
}

/** Whether a capability was taken back with these words before: a record of long ago does it no second time. */
export async function wasJustifiedBy(
  step: Step,
  { id, changes }: Row<"auditMode">,
  justification: string,
): Promise<boolean> {
  for (let n = 0; n < changes; n++) {
    const change = await step.store.get("auditModeChange", `${id}/${n}`);
    if (change?.justification === justification) return true;
  }
  return false;
}

/** SHP §8.3.4.1, all four; what costs a look-up first. */
async function isMature(
  step: Step,
  { id, firstAssigned, verdicts, auditors }: Row<"auditMode">,
): Promise<boolean> {
  const { audit: params } = step.params;
  if (firstAssigned === null || step.at.time - firstAssigned < params.matureSeconds) return false;
  const size = await rosterSize(step, id);
  if (size < params.matureAuditors) return false;
  if (verdicts > 0) {
    const [most = 0n] = await selectNumbers(step.store, sharesOf(id), [auditors - 1]);
    const { numerator, denominator } = params.matureShare;
    if (most * BigInt(denominator) > BigInt(verdicts) * BigInt(numerator)) return false;
  }
  const parties = new Set<string>();
  for (let place = 0; place < size && parties.size < params.matureClusters; place++)
    parties.add(await partyOf(step, await auditorAt(step, id, place)));
  return parties.size >= params.matureClusters;
}

async function changeMode(
  step: Step,
  { id, operator, capability, mode: from, changes }: Row<"auditMode">,
  to: AuditMode,
  why: { justification: string; record: string } | null = null,
): Promise<void> {
  const { block, time } = step.at;
  await step.store.insert("auditModeChange", {
    ...{ id: `${id}/${changes}`, operator, capability, from, to, block, time },
    justification: why?.justification ?? null,
    record: why?.record ?? null,
  });
  await step.store.update("auditMode", id, { mode: to, changes: changes + 1 });
}

async function changeShare(step: Step, pool: string, auditor: string, by: 1 | -1): Promise<void> {
  const row = await step.store.get("auditMode", pool);
  if (row === null) throw new Error(`Nobody was judged in ${pool}.`);
  await step.store.update("auditMode", pool, { verdicts: row.verdicts + by });
  const id = `${pool}/${auditor}`;
  const share = await step.store.get("auditShare", id);
  const before = share?.verdicts ?? 0;
  const verdicts = before + by;
  if (share === null) await step.store.insert("auditShare", { id, verdicts });
  else await step.store.update("auditShare", id, { verdicts });
  if (before > 0) await removeNumber(step.store, sharesOf(pool), BigInt(before));
  if (verdicts > 0) await addNumber(step.store, sharesOf(pool), BigInt(verdicts));
  const change = Number(verdicts > 0) - Number(before > 0);
  if (change !== 0) await step.store.update("auditMode", pool, { auditors: row.auditors + change });
}

async function modeRow(step: Step, { operator, capability }: Pool): Promise<Row<"auditMode">> {
  const known = await findMode(step, { operator, capability });
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
  await step.store.insert("auditMode", row);
  return row;
}

/** The ordered set of how many verdicts each auditor gave of late. */
function sharesOf(pool: string): string {
  return `auditShares/${pool}`;
}

function judgedAt(tick: number): string {
  return `auditsJudged/${tick}`;
}
