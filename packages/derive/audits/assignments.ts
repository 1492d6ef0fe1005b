import type { ApplyContext } from "../applyContext.ts";
import { existingRow } from "../existingRow.ts";
import { familiesOf } from "../families/kinship.ts";
import { allItems, append, itemsOf, replaceItems } from "../lists.ts";
import { forEachRow } from "../loadedRows.ts";
import { schedule } from "../schedule.ts";
import type { Row } from "../tables.ts";
import { auditorRow, removeAuditor } from "./auditors.ts";
import { auditRow, changeAudit, isOperator } from "./auditRow.ts";
import { barOf, clustersOf, notePair } from "./bars.ts";
import { drawNumber } from "./drawnPlaces.ts";
import { noteAssigned } from "./modes.ts";
import { countFor } from "./operators.ts";
import { auditorAt, rosterOf, rosterSize } from "./rosters.ts";

/** The most places of a roster that are tried at one tick. */
const MAX_PROBES = 64;

/**
 * The list of the audits that wait for an auditor, in the order in which they began to wait. An audit may wait for
 * weeks, and rows are never deleted. So a tick writes this list again only if an audit no longer waits, and uses the
 * same rows.
 */
const WAITING = "auditsWaiting";

/**
 * Puts an audit on the list of audits that wait for an auditor. From the next tick on, each tick tries to find an
 * auditor.
 */
export function awaitAuditor(
  context: ApplyContext,
  audit: Row<"audit">,
  round = audit.round,
  more: Partial<Row<"audit">> = {},
): Row<"audit"> {
  append(context.store, WAITING, audit.id, true);
  const isNew = round !== audit.round;
  return changeAudit(context, audit, { ...more, status: "assigning", round, ...(isNew && { attempt: 0 }) });
}

/** What becomes of an audit that gets no auditor. */
type GiveUp = {
  /** Its operator has left the parameters. */
  abandon: (audit: Row<"audit">) => void;
  /** It waited too long. */
  exhaust: (audit: Row<"audit">) => void;
};

/**
 * At a tick, assigns an auditor to each audit that waits for one (SHP §8.3.1). The block's hash picks the auditor:
 * nobody chooses, and every node picks the same one.
 */
export function assignAuditors(
  context: ApplyContext,
  hash: string | undefined,
  { abandon, exhaust }: GiveUp,
): void {
  const waiting = [...itemsOf(context.store, WAITING)];
  const left: string[] = [];
  // An audit may be on the list twice: a late verdict can begin its next round while its last round waits.
  forEachRow(new Set(waiting), (id) => {
    const audit = auditRow(context, id);
    if (audit.status !== "assigning") return;
    if (!isOperator(context, audit.operator)) abandon(audit);
    else if (isTooOld(context, audit)) {
      endAttempt(context, audit);
      exhaust(audit);
    } else if (hash === undefined || !assign(context, audit, hash)) {
      if (hash !== undefined && audit.unassignedSince === null)
        changeAudit(context, audit, { unassignedSince: context.at.time });
      left.push(id);
    }
  });
  if (left.length < waiting.length) replaceItems(context.store, WAITING, left);
}

/**
 * Whether an audit was drawn so long ago that its seller need not keep the work any longer. A new auditor would not get
 * the work, and would fail it.
 */
function isTooOld(context: ApplyContext, { drawnTime }: Row<"audit">): boolean {
  const { disclosureSeconds } = context.params.audit;
  return drawnTime !== null && context.at.time - drawnTime >= disclosureSeconds;
}

function assign(context: ApplyContext, audit: Row<"audit">, hash: string): boolean {
  const attempt = audit.attempt + 1;
  const roster = rosterOf(audit.operator, audit.capability ?? "");
  const size = rosterSize(context, roster);
  if (size === 0) return false;
  const earlier = assignmentsOf(context, audit.hire);
  const tried = new Map<string, string | null>();
  const passedOver: string[] = [];
  for (let k = 0; k < MAX_PROBES; k++) {
    const words = ["tallystick/audit/auditor/v1", hash, audit.hire, audit.round, attempt, k];
    const place = Number(drawNumber(context.sha256Hex, words) % BigInt(size));
    const auditor = auditorAt(context, roster, place);
    if (!tried.has(auditor)) tried.set(auditor, barOf(context, audit, auditor, earlier));
    const bar = tried.get(auditor) ?? null;
    if (bar === null) {
      endAttempt(context, audit);
      take(context, { ...audit, attempt }, { auditor, passedOver });
      return true;
    }
    passedOver.push(bar);
    // All places were tried, so more attempts would find nobody.
    if (tried.size === size) return false;
  }
  return false;
}

function take(
  context: ApplyContext,
  audit: Row<"audit">,
  { auditor, passedOver }: { auditor: string; passedOver: string[] },
): void {
  const { operator, capability } = audit;
  const row = auditorRow(context, operator, auditor);
  ask(context, audit, {
    auditor,
    auditorType: "auditor",
    models: null,
    passedOver: passedOver.join(","),
    host: row.host,
  });
  notePair(context, audit, auditor);
  context.store.update("auditor", row.id, { assigned: row.assigned + 1 });
  if (capability !== null) noteAssigned(context, { operator, capability });
}

/** Who is asked for a verdict, and how it was chosen. */
export type Asked = Pick<
  Row<"auditAssignment">,
  "auditor" | "auditorType" | "models" | "passedOver" | "host"
>;

/** Begins the attempt that the audit names. The time for a verdict starts now. */
export function ask(context: ApplyContext, audit: Row<"audit">, asked: Asked): void {
  const { hire, round, attempt, seller, buyer, operator } = audit;
  const id = assignmentId(hire, round, attempt);
  const sides = [asked.auditor, buyer, seller];
  context.store.insert("auditAssignment", {
    id,
    hire,
    audit: audit.id,
    round,
    attempt,
    operator,
    ...asked,
    clusters: JSON.stringify(clustersOf(context, sides)),
    families: JSON.stringify(familiesOf(context, sides)),
    verdict: null,
    reasons: null,
    record: null,
    fee: 0n,
    block: context.at.block,
    time: context.at.time,
    verdictTime: null,
  });
  append(context.store, assignmentsList(hire), id);
  changeAudit(context, audit, { status: "assigned", attempt });
  schedule(context, context.at.time + context.params.audit.verdictSeconds, "verdict", id);
}

/**
 * Ends an attempt, because another begins or the round ends. If the auditor gave no verdict, this is counted against
 * it. An auditor that misses too many verdicts is removed from its rosters.
 */
export function endAttempt(context: ApplyContext, audit: Row<"audit">): void {
  if (audit.attempt === 0) return;
  const assignment = assignmentRow(context, assignmentId(audit.hire, audit.round, audit.attempt));
  if (assignment.verdict !== null) return;
  countFor(context, assignment.operator, "unanswered");
  if (assignment.auditorType !== "auditor") return;
  const auditor = auditorRow(context, assignment.operator, assignment.auditor);
  const unanswered = auditor.unanswered + 1;
  context.store.update("auditor", auditor.id, { unanswered });
  if (auditor.isActive && unanswered >= context.params.audit.maxUnanswered)
    removeAuditor(context, auditor, "unanswered");
}

export function assignmentId(hire: string, round: number, attempt: number): string {
  return `${hire}/${round}/${attempt}`;
}

export function assignmentRow(context: ApplyContext, id: string): Row<"auditAssignment"> {
  return existingRow(context.store, "auditAssignment", id);
}

/** All assignments of a hire, in their order. A round has a few. */
export function assignmentsOf(context: ApplyContext, hire: string): Row<"auditAssignment">[] {
  const rows: Row<"auditAssignment">[] = [];
  for (const id of allItems(context.store, assignmentsList(hire))) rows.push(assignmentRow(context, id));
  return rows;
}

function assignmentsList(hire: string): string {
  return `assignments/${hire}`;
}
