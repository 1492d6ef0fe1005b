import { schedule } from "../agenda.ts";
import { findAgent } from "../agentRow.ts";
import { clusterOf, sharedClusterSize } from "../clusters.ts";
import { append, itemsOf } from "../lists.ts";
import { partyOf } from "../parties.ts";
import type { Step } from "../step.ts";
import type { Row } from "../tables.ts";
import { auditorRow, findAuditor, removeAuditor } from "./auditors.ts";
import { changeAudit, isOperator } from "./auditRow.ts";
import { drawNumber } from "./drawnPlaces.ts";
import { auditorAt, rosterOf, rosterSize } from "./rosters.ts";

/** How many places of a roster are tried at a tick. */
const MAX_PROBES = 64;

/** Has the ticks look for an auditor from here on. */
export async function awaitAuditor(
  step: Step,
  audit: Row<"audit">,
  round = audit.round,
): Promise<Row<"audit">> {
  await append(step.store, waitingAt(step.state.ticks), audit.id);
  const isNew = round !== audit.round;
  return changeAudit(step, audit, { status: "assigning", round, ...(isNew && { attempt: 0 }) });
}

/**
 * Assigns at a tick whoever the block's hash picks, to each audit that waits for somebody (SHP §8.3.1). Nobody chooses an auditor,
 * and every node picks the same.
 */
export async function assignAuditors(
  step: Step,
  hash: string | undefined,
  abandon: (audit: Row<"audit">) => Promise<void>,
): Promise<void> {
  const { ticks } = step.state;
  // One may be there twice: a late verdict began its next round while its last one waited.
  const seen = new Set<string>();
  for await (const id of itemsOf(step.store, waitingAt(ticks))) {
    if (seen.has(id)) continue;
    seen.add(id);
    const audit = await step.store.get("audit", id);
    if (audit?.status !== "assigning") continue;
    if (!isOperator(step, audit.operator)) await abandon(audit);
    else if (hash === undefined || !(await assign(step, audit, hash)))
      await append(step.store, waitingAt(ticks + 1), id);
  }
}

async function assign(step: Step, audit: Row<"audit">, hash: string): Promise<boolean> {
  const attempt = audit.attempt + 1;
  const roster = rosterOf(audit.operator, audit.capability ?? "");
  const size = await rosterSize(step, roster);
  if (size === 0) return false;
  const earlier = await assignmentsOf(step, audit.id);
  const tried = new Map<string, string | null>();
  const passedOver: string[] = [];
  for (let k = 0; k < MAX_PROBES; k++) {
    const words = ["tallystick/audit/auditor/v1", hash, audit.id, audit.round, attempt, k];
    const place = Number(drawNumber(step.sha256Hex, words) % BigInt(size));
    const auditor = await auditorAt(step, roster, place);
    if (!tried.has(auditor)) tried.set(auditor, await barOf(step, audit, auditor, earlier));
    const bar = tried.get(auditor) ?? null;
    if (bar === null) {
      await endAttempt(step, audit);
      await take(step, { ...audit, attempt }, { auditor, passedOver });
      return true;
    }
    passedOver.push(bar);
    // Everybody was tried: what is left of the probes finds nobody either.
    if (tried.size === size) return false;
  }
  return false;
}

async function take(
  step: Step,
  audit: Row<"audit">,
  { auditor, passedOver }: { auditor: string; passedOver: string[] },
): Promise<void> {
  const { id: hire, round, attempt, seller, buyer, operator } = audit;
  const id = assignmentId(hire, round, attempt);
  const row = await auditorRow(step, operator, auditor);
  await step.store.insert("auditAssignment", {
    id,
    hire,
    round,
    attempt,
    operator,
    auditor,
    auditorType: "auditor",
    passedOver: passedOver.join(","),
    clusters: JSON.stringify(await clustersOf(step, [auditor, buyer, seller])),
    host: row.host,
    verdict: null,
    reasons: null,
    record: null,
    block: step.at.block,
    time: step.at.time,
    verdictTime: null,
  });
  await append(step.store, assignmentsList(hire), id);
  await notePair(step, audit, auditor);
  await step.store.update("auditor", row.id, { assigned: row.assigned + 1 });
  await changeAudit(step, audit, { status: "assigned", attempt });
  await schedule(step, step.at.time + step.params.audit.verdictSeconds, "verdict", id);
}

/** The attempt before is over, since another begins or the round ends: one without an answer is held against its auditor. */
export async function endAttempt(step: Step, audit: Row<"audit">): Promise<void> {
  if (audit.attempt === 0) return;
  const assignment = await assignmentRow(step, assignmentId(audit.id, audit.round, audit.attempt));
  if (assignment.verdict !== null) return;
  const auditor = await auditorRow(step, assignment.operator, assignment.auditor);
  const unanswered = auditor.unanswered + 1;
  await step.store.update("auditor", auditor.id, { unanswered });
  if (auditor.isActive && unanswered >= step.params.audit.maxUnanswered)
    await removeAuditor(step, auditor, "unanswered");
}

/** Why somebody may not be the auditor of a hire, or null. */
async function barOf(
  step: Step,
  { seller, buyer, round, capability }: Row<"audit">,
  auditor: string,
  earlier: Row<"auditAssignment">[],
): Promise<string | null> {
  if (auditor === buyer || auditor === seller) return "party";
  const agent = await findAgent(step, auditor);
  if (agent?.trustTier !== 2) return "tier";
  const sold = await step.store.get("capability", `${auditor}/${capability}`);
  if ((sold?.windowSuccesses ?? 0) === 0) return "capability";
  for (const side of [buyer, seller]) {
    if (await areTogether(step, auditor, side)) return "cluster";
  }
  const last = await step.store.get("auditPair", pairId({ buyer, seller }, auditor));
  if (last !== null && last.time > step.at.time - step.params.audit.pairSeconds) return "pair";
  for (const before of earlier) {
    if (before.auditor === auditor) return "earlier";
    if (round > 1 && (await isAkin(step, before, auditor))) return "akin";
  }
  return null;
}

/** Whether two agents are in one cluster, or one buyer. Whose money made them belongs here too, once that is known. */
async function areTogether(step: Step, a: string, b: string): Promise<boolean> {
  return (await sharedClusterSize(step, a, b)) > 1 || (await partyOf(step, a)) === (await partyOf(step, b));
}

/** Whether a second auditor is the first one's own: by cluster, by claimed handle, by the host of its endpoint. */
async function isAkin(step: Step, before: Row<"auditAssignment">, auditor: string): Promise<boolean> {
  if (await areTogether(step, before.auditor, auditor)) return true;
  const handle = await handleOf(step, auditor);
  if (handle !== null && handle === (await handleOf(step, before.auditor))) return true;
  const row = await findAuditor(step, before.operator, auditor);
  return row !== null && row.host === before.host;
}

/** Whose human an agent says it is, in lower case; null when nobody's. */
async function handleOf(step: Step, agent: string): Promise<string | null> {
  const claim = await step.store.get("claim", agent);
  return claim === null || claim.status === "unclaimed" ? null : claim.xHandle.toLowerCase();
}

/** The clusters of some agents, of both kinds, as they are published with an assignment. */
async function clustersOf(step: Step, agents: string[]): Promise<{ [agent: string]: string[] }> {
  const clusters: { [agent: string]: string[] } = {};
  for (const agent of agents) {
    const both = [await clusterOf(step, agent, "ownership"), await clusterOf(step, agent, "fingerprint")];
    clusters[agent] = both.flatMap((it) => (it === null ? [] : [it.id]));
  }
  return clusters;
}

async function notePair(step: Step, audit: Row<"audit">, auditor: string): Promise<void> {
  const id = pairId(audit, auditor);
  const { time } = step.at;
  if ((await step.store.get("auditPair", id)) === null) await step.store.insert("auditPair", { id, time });
  else await step.store.update("auditPair", id, { time });
}

function pairId({ buyer, seller }: { buyer: string; seller: string }, auditor: string): string {
  return `${auditor}/${buyer}/${seller}`;
}

export function assignmentId(hire: string, round: number, attempt: number): string {
  return `${hire}/${round}/${attempt}`;
}

export async function assignmentRow(step: Step, id: string): Promise<Row<"auditAssignment">> {
  const row = await step.store.get("auditAssignment", id);
  if (row === null) throw new Error(`There is no assignment ${id}.`);
  return row;
}

/** All that were ever asked about a hire, in order: a few for each round. */
export async function assignmentsOf(step: Step, hire: string): Promise<Row<"auditAssignment">[]> {
  const rows: Row<"auditAssignment">[] = [];
  for await (const id of itemsOf(step.store, assignmentsList(hire))) rows.push(await assignmentRow(step, id));
  return rows;
}

function assignmentsList(hire: string): string {
  return `assignments/${hire}`;
}

/** The audits that a tick, by its number, has to find somebody for. */
function waitingAt(tick: number): string {
  return `auditsWaiting/${tick}`;
}
