import type { TickEvent } from "tallystick-derive/events";
import { endSilence, queue } from "./auditEligible.ts";
import { close } from "./auditEnds.ts";
import {
  type Audit,
  areSameFamily,
  drawNumber,
  followed,
  isBehind,
  leave,
  offerOf,
  rosterOf,
  together,
} from "./auditFacts.ts";
import { settleModes } from "./auditModes.ts";
import type { Facts } from "./facts.ts";
import { inWindow } from "./fields.ts";

export function decide(
  facts: Facts,
  { block, time }: { block: number; time: number },
  audit: Audit,
  word: string,
): void {
  audit.words += word[0];
  const fails = [...audit.words].filter((it) => it === "f").length;
  const passes = audit.words.length - fails;
  const byOthers = audit.asked.filter((it) => it.verdict === "fail" && it.models === null).length;
  if (fails >= 2 && byOthers > 0) close(facts, time, audit, "failed");
  else if (passes === 2) close(facts, time, audit, "passed");
  else if (audit.words.length === 3) close(facts, time, audit, "inconclusive");
  else if (audit.words === "p") {
    audit.status = "rechecking";
    queue(facts, block, "recheck", facts.params.audit.recheckPpm, audit);
  } else newRound(facts, audit);
}

export function newRound(facts: Facts, audit: Audit): void {
  audit.round += 1;
  audit.attempt = 0;
  wait(facts, audit);
}

function wait(facts: Facts, audit: Audit): void {
  audit.status = "assigning";
  audit.nobodySince = null;
  facts.audits.waiting.push(audit);
}

/** Continues an audit whose last assigned auditor gave no verdict in time, or an inconclusive verdict. */
export function next(facts: Facts, time: number, audit: Audit): void {
  if (audit.attempt >= facts.params.audit.maxAttempts) {
    miss(facts, audit);
    close(facts, time, audit, "inconclusive");
    return;
  }
  wait(facts, audit);
}

/** If the last assigned auditor of this round gave no verdict, counts this against the auditor. */
export function miss(facts: Facts, audit: Audit): void {
  const asked = audit.asked.at(-1);
  if (audit.attempt === 0 || asked === undefined || asked.verdict !== null) return;
  asked.isMissed = true;
  if (asked.models !== null) return;
  const offer = offerOf(facts, audit.operator, asked.auditor);
  offer.missed += 1;
  if (!offer.isIn || offer.missed < facts.params.audit.maxUnanswered) return;
  for (const capability of offer.capabilities) leave(facts, offer.operator, capability, offer.agent);
  offer.isIn = false;
  offer.removedFor = "unanswered";
}
/** The work of a tick for audits, after the windows have moved. */
export function tickAudits(facts: Facts, event: TickEvent, before: number): void {
  const { audits } = facts;
  endSilence(facts, event, before);
  const step = ({ due }: { due: number }) => Math.floor(due / 300);
  const overdue = audits.asked.filter(({ due }) => due > before && due <= event.time);
  for (const { audit, round, attempt } of overdue.toSorted((a, b) => step(a) - step(b))) {
    if (audit.status !== "assigned" || audit.round !== round || audit.attempt !== attempt) continue;
    if (followed(facts, audit.operator)) next(facts, event.time, audit);
    else close(facts, event.time, audit, "abandoned");
  }
  settleModes(facts, event);
  if (event.hash !== undefined) drawAll(facts, event, event.hash);
  const waiting = new Set(audits.waiting);
  audits.waiting = [];
  for (const audit of waiting) {
    if (audit.status !== "assigning") continue;
    if (!followed(facts, audit.operator)) close(facts, event.time, audit, "abandoned");
    else if (event.time >= (audit.drawnAt ?? event.time) + facts.params.audit.disclosureSeconds) {
      miss(facts, audit);
      close(facts, event.time, audit, "inconclusive");
    } else if (event.hash === undefined || !assign(facts, event, event.hash, audit)) {
      if (event.hash !== undefined) audit.nobodySince ??= event.time;
      audits.waiting.push(audit);
    }
  }
}
/** Decides for each place of a queue whether its hire is drawn. Only hires from earlier blocks take part. */
function drawAll(facts: Facts, event: TickEvent, hash: string): void {
  const { audits } = facts;
  const queues = audits.queues;
  audits.queues = [];
  for (const { kind, operator, ppm, items } of queues) {
    const u = drawNumber(`tallystick/audit/${kind}/v1`, hash, operator, ppm) % 1_000_000n;
    const share = (n: number) => (BigInt(n) * BigInt(ppm) + u) / 1_000_000n;
    const here = items.filter(({ block }) => block < event.block);
    for (const [i, { audit }] of here.entries()) draw(facts, event, kind, audit, share(i + 1) > share(i));
    const left = items.filter(({ block }) => block >= event.block);
    if (left.length > 0) audits.queues.push({ kind, operator, ppm, items: left });
  }
}

function draw(facts: Facts, event: TickEvent, kind: string, audit: Audit, isDrawn: boolean): void {
  const isFollowed = followed(facts, audit.operator);
  if (kind === "recheck") {
    if (audit.status !== "rechecking") return;
    if (!isFollowed) close(facts, event.time, audit, "abandoned");
    else if (isDrawn) newRound(facts, audit);
    else close(facts, event.time, audit, "passed");
    return;
  }
  if (!isDrawn || audit.status !== "eligible" || audit.canary !== null || !isFollowed) return;
  audit.drawn = event.block;
  audit.drawnAt = event.time;
  if (audit.isDisclosed) newRound(facts, audit);
  else close(facts, event.time, audit, "failed", "undisclosed");
}

function assign(facts: Facts, event: TickEvent, hash: string, audit: Audit): boolean {
  const { round } = audit;
  const attempt = audit.attempt + 1;
  const roster = rosterOf(facts, audit.operator, audit.capability ?? "");
  const over: string[] = [];
  const bars = new Map(roster.map((it) => [it, barTo(facts, event.time, audit, it)]));
  for (let k = 0; k < 64 && roster.length > 0; k++) {
    const number = drawNumber("tallystick/audit/auditor/v1", hash, audit.hire, round, attempt, k);
    const auditor = roster[Number(number % BigInt(roster.length))] as string;
    const bar = bars.get(auditor) ?? null;
    if (bar !== null) {
      over.push(bar);
      continue;
    }
    miss(facts, audit);
    const { host } = offerOf(facts, audit.operator, auditor);
    const due = event.time + facts.params.audit.verdictSeconds;
    const asked = {
      ...{
        audit,
        round,
        attempt,
        auditor,
        host,
        time: event.time,
        due,
        over,
        verdict: null,
        isMissed: false,
        fee: 0n,
      },
      ...{ at: facts.now, models: null },
    };
    audit.attempt = attempt;
    audit.nobodySince = null;
    audit.status = "assigned";
    audit.asked.push(asked);
    facts.audits.asked.push(asked);
    return true;
  }
  return false;
}

function barTo(facts: Facts, now: number, audit: Audit, auditor: string): string | null {
  const { buyer, seller, capability } = audit;
  const sides = [buyer, seller];
  if (sides.includes(auditor)) return "party";
  const good = facts.hires.filter((it) => it.seller === auditor && it.outcome === "success" && !it.isCanary);
  if (!good.some((it) => it.capability === capability && inWindow(facts, it))) return "capability";
  if (sides.some((it) => together(facts, it, auditor))) return "cluster";
  if (sides.some((it) => areSameFamily(facts, it, auditor)) || isBehind(facts, buyer, auditor))
    return "family";
  const forPair = facts.audits.asked.filter(
    (it) => it.auditor === auditor && it.audit.buyer === buyer && it.audit.seller === seller,
  );
  if (forPair.some(({ time }) => time > now - facts.params.audit.pairSeconds)) return "pair";
  const ofHire = facts.audits.asked.filter((it) => it.audit.hire === audit.hire);
  for (const before of ofHire) {
    if (before.auditor === auditor) return "earlier";
    const handles = [before.auditor, auditor].map((it) => facts.handles.get(it) ?? null);
    const sameHandle = handles[0] !== null && handles[0] === handles[1];
    const sameHost = before.host === offerOf(facts, audit.operator, auditor).host;
    const sameOwner =
      together(facts, before.auditor, auditor) || areSameFamily(facts, before.auditor, auditor);
    if (audit.round > 1 && (sameOwner || sameHandle || sameHost)) return "akin";
  }
  return null;
}
