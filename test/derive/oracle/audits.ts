import { createHash } from "node:crypto";
import type { RecordEvent, TickEvent } from "tallystick-derive/events";
import { parseAuditActuation } from "tallystick-protocol/records/auditActuation";
import { parseAuditor } from "tallystick-protocol/records/auditor";
import { parseAuditVerdict } from "tallystick-protocol/records/auditVerdict";
import type { Escrow, Facts, Hire, Receipt } from "./facts.ts";
import { inWindow } from "./fields.ts";
import { components, fingerprintGroups, ownershipGroups, sharedSize } from "./groups.ts";
import { rollBack } from "./hires.ts";

/** What the oracle notes of audits, in plain arrays. */
export type Audits = {
  /** What each listing ever said of audits, from when on. */
  consents: { agent: string; capability: string; mode: string; from: number; operator: string | null }[];
  all: Audit[];
  offers: Offer[];
  /** Rosters by operator and capability: who stands in which place. */
  rosters: Map<string, string[]>;
  /** Counted hires whose sellers still have time to say what they did. */
  silent: { hire: Hire; due: number }[];
  /** What waits for a draw, in the order in which the queues came to hold something; and who waits for an auditor. */
  queues: {
    kind: "sample" | "recheck";
    operator: string;
    ppm: number;
    items: { audit: Audit; block: number }[];
  }[];
  waiting: Audit[];
  /** Everybody who was ever asked. */
  asked: Asked[];
};

type Asked = {
  audit: Audit;
  round: number;
  attempt: number;
  auditor: string;
  host: string;
  due: number;
  time: number;
  over: string[];
  verdict: string | null;
};

export type Audit = {
  hire: string;
  operator: string;
  capability: string | null;
  seller: string;
  buyer: string;
  receipt: Receipt | null;
  isDisclosed: boolean;
  ppm: number;
  cause: string;
  status: string;
  reason: string | null;
  round: number;
  attempt: number;
  words: string;
  block: number;
  drawn: number | null;
  closed: number | null;
  decision: string | null;
  /** Since when it counts as passed or rolled back, and until when. */
  counts: { as: "passed" | "rolledBack"; until: number } | null;
  asked: Asked[];
};

export type Offer = {
  agent: string;
  operator: string;
  capabilities: string[];
  host: string;
  issuedAt: number;
  isIn: boolean;
  missed: number;
  removedFor: string | null;
};

export const noAudits = (): Audits => ({
  consents: [],
  all: [],
  offers: [],
  rosters: new Map(),
  silent: [],
  queues: [],
  waiting: [],
  asked: [],
});

const isOpen = (audit: Audit) => ["assigning", "assigned"].includes(audit.status);
const followed = (facts: Facts, operator: string | null) =>
  operator !== null && Object.keys(facts.params.audit.operators).includes(operator);

export function noteListing(
  facts: Facts,
  event: RecordEvent,
  {
    capability,
    mode,
    audit,
    retired,
  }: { capability: string; mode: string; audit: unknown; retired: boolean },
): void {
  const agent = event.signer;
  const said = audit as { operator?: unknown } | undefined;
  const isForm =
    typeof said === "object" && said !== null && Object.keys(said).join() === "operator" && !retired;
  const operator = isForm && /^0x[0-9a-f]{40}$/.test(String(said?.operator)) ? String(said?.operator) : null;
  const own = facts.audits.consents.filter(
    (it) => it.agent === agent && it.capability === capability && it.mode === mode,
  );
  const last = own.at(-1);
  if ((last?.operator ?? null) === operator) return;
  const from = Math.max(last?.from ?? 0, event.time + facts.params.audit.consentSeconds);
  facts.audits.consents.push({ agent, capability, mode, from, operator });
}

/** Whom a listing had agreed to at a time: of all that it said until then, the last. */
function agreed(facts: Facts, agent: string, capability: string, mode: string, time: number): string | null {
  const said = facts.audits.consents.filter(
    (it) => it.agent === agent && it.capability === capability && it.mode === mode && it.from <= time,
  );
  return said.at(-1)?.operator ?? null;
}

type Paid = {
  hire: string;
  seller: string;
  buyer: string;
  amount: bigint;
  mode: string;
  paidAt: number;
  receipt: Receipt | null;
};

const modeOf = (escrow: Escrow | null) => (escrow === null ? "direct" : `platform_escrow:${escrow.provider}`);
const paidOf = (it: Hire): Paid => ({
  hire: it.id,
  seller: it.seller,
  buyer: it.buyer,
  amount: it.amount,
  mode: modeOf(it.escrow),
  paidAt: it.escrow?.depositedTime ?? it.time,
  receipt: it.receipt,
});

/** Everything that was paid and receipted, counted or held, in order. */
function receipted(facts: Facts): Paid[] {
  const held = [...facts.escrows.values()].flatMap((escrow): Paid[] => {
    const { id: hire, seller, buyer, amount, depositedTime: paidAt, receipt } = escrow;
    return receipt === null ? [] : [{ hire, seller, buyer, amount, mode: modeOf(escrow), paidAt, receipt }];
  });
  return [...held, ...facts.hires.filter((it) => it.escrow === null).map(paidOf)];
}

/** After every event: whatever may be audited from here on. */
export function findEligible(facts: Facts, event: { block: number; time: number; kind: string }): void {
  const { audits } = facts;
  if (Object.keys(facts.params.audit.operators).length === 0) {
    for (const it of facts.hires) it.wasSeen = true;
    for (const it of receipted(facts)) if (it.receipt !== null) it.receipt.wasSeen = true;
    return;
  }
  for (const paid of receipted(facts)) {
    const { receipt } = paid;
    if (receipt === null || receipt.wasSeen) continue;
    receipt.wasSeen = true;
    if (!audits.consents.some((it) => it.agent === paid.seller)) continue;
    const found = consentTo(facts, paid, receipt.capability);
    const isSaid = receipt.hashes[0] !== null && receipt.hashes[1] !== null;
    if (found !== null && (isSaid || !found.isListed)) admit(facts, event, paid, found);
  }
  for (const hire of facts.hires) {
    if (hire.wasSeen) continue;
    hire.wasSeen = true;
    if (!audits.consents.some((it) => it.agent === hire.seller)) continue;
    if (audits.all.some((it) => it.hire === hire.id)) continue;
    const due = Math.max(hire.time + facts.params.reconcileSeconds, facts.asOf + 1);
    audits.silent.push({ hire, due });
  }
  for (const audit of audits.all) {
    if (audit.receipt === null || audit.status === "failed" || audit.status === "abandoned") continue;
    const { agent, hireId } = audit.receipt;
    if (!contradicts(facts, agent, hireId)) continue;
    if (audit.status === "eligible") audit.cause = "rules";
    close(facts, event.time, audit, "failed", "equivocation");
  }
}

/** Whether a seller signed two things of one hire, of those that it signed while it was audited. */
function contradicts(facts: Facts, agent: string, hireId: string): boolean {
  const said = facts.receipts.filter((it) => it.agent === agent && it.hireId === hireId && it.isHeld);
  return new Set(said.map((it) => it.hashes.join())).size > 1;
}

function consentTo(facts: Facts, paid: Paid, capability: string | null) {
  const { consents } = facts.audits;
  const listed = facts.listings.filter((it) => it.agent === paid.seller && it.capability === capability);
  const isListed = listed.some((it) => it.mode === paid.mode);
  if (!isListed && listed.length > 0) return null;
  let operator: string | null = null;
  if (isListed) operator = agreed(facts, paid.seller, capability ?? "", paid.mode, paid.paidAt);
  else {
    for (const it of consents.filter((one) => one.agent === paid.seller))
      operator ??= agreed(facts, it.agent, it.capability, it.mode, paid.paidAt);
  }
  return operator !== null && followed(facts, operator) ? { operator, isListed } : null;
}

function admit(
  facts: Facts,
  event: { block: number; time: number },
  paid: Paid,
  { operator, isListed }: { operator: string; isListed: boolean },
): void {
  const { all } = facts.audits;
  const { hire, seller, buyer, receipt } = paid;
  if (all.some((it) => it.hire === hire) || paid.amount < BigInt(facts.params.minHireAtomic)) return;
  const cannot = (it: string) => facts.hubs.has(it) || facts.escrowContracts.has(it);
  if (cannot(buyer) || cannot(seller)) return;
  const { rates, ratePpm } = facts.params.audit;
  const capability = receipt?.capability ?? null;
  const ppm = Object.entries(rates).find(([it]) => it === capability)?.[1] ?? ratePpm;
  const audit: Audit = {
    hire,
    operator,
    capability,
    seller,
    buyer,
    receipt,
    isDisclosed: isListed,
    ppm,
    cause: "sample",
    status: "eligible",
    reason: null,
    round: 0,
    attempt: 0,
    words: "",
    block: event.block,
    drawn: null,
    closed: null,
    decision: null,
    counts: null,
    asked: [],
  };
  all.push(audit);
  if (receipt !== null && contradicts(facts, receipt.agent, receipt.hireId)) {
    audit.cause = "rules";
    close(facts, event.time, audit, "failed", "equivocation");
  } else queue(facts, event.block, "sample", ppm, audit);
}

function queue(facts: Facts, block: number, kind: "sample" | "recheck", ppm: number, audit: Audit): void {
  const { operator } = audit;
  const { queues } = facts.audits;
  const known = queues.find((it) => it.kind === kind && it.operator === operator && it.ppm === ppm);
  if (known === undefined) queues.push({ kind, operator, ppm, items: [{ audit, block }] });
  else known.items.push({ audit, block });
}

function close(facts: Facts, time: number, audit: Audit, status: string, reason: string | null = null): void {
  audit.status = status;
  audit.reason = reason;
  audit.closed = time;
  const until = Math.max(time + facts.params.windowSeconds, facts.asOf + 1);
  audit.counts = status === "passed" ? { as: "passed", until } : null;
}

/** The operator's decision on a hire that failed. */
export function readActuation(facts: Facts, event: RecordEvent): void {
  const { hire: id, decision } = parseAuditActuation(event.body);
  const audit = facts.audits.all.find((it) => it.hire === id);
  if (audit === undefined || audit.status !== "failed" || audit.decision !== null) return;
  if (audit.operator !== event.signer || !followed(facts, audit.operator)) return;
  audit.decision = decision;
  if (decision === "dismiss") return;
  const until = Math.max(event.time + facts.params.windowSeconds, facts.asOf + 1);
  audit.counts = { as: "rolledBack", until };
  const hire = facts.hires.find((it) => it.id === id);
  if (hire !== undefined) rollBack(hire);
}

export function readAuditor(facts: Facts, event: RecordEvent): void {
  const body = parseAuditor(event.body);
  if (event.signer !== body.agent_id || !followed(facts, body.operator)) return;
  const { offers } = facts.audits;
  const at = offers.findIndex((it) => it.agent === body.agent_id && it.operator === body.operator);
  const known = offers[at];
  if (known !== undefined && known.issuedAt >= body.issued_at) return;
  const capabilities = body.active ? body.capabilities : [];
  for (const capability of known?.capabilities ?? [])
    if (!capabilities.includes(capability)) leave(facts, body.operator, capability, body.agent_id);
  const offer: Offer = {
    agent: body.agent_id,
    operator: body.operator,
    capabilities,
    host: new URL(body.endpoint).hostname,
    issuedAt: body.issued_at,
    isIn: body.active,
    missed: 0,
    removedFor: null,
  };
  if (at < 0) offers.push(offer);
  else offers[at] = offer;
  for (const capability of capabilities) {
    const roster = rosterOf(facts, body.operator, capability);
    if (!roster.includes(body.agent_id)) roster.push(body.agent_id);
  }
}

function rosterOf({ audits }: Facts, operator: string, capability: string): string[] {
  const name = `${operator} ${capability}`;
  const roster = audits.rosters.get(name) ?? [];
  audits.rosters.set(name, roster);
  return roster;
}

function leave(facts: Facts, operator: string, capability: string, agent: string): void {
  const roster = rosterOf(facts, operator, capability);
  const place = roster.indexOf(agent);
  if (place < 0) return;
  const last = roster.pop() as string;
  if (place < roster.length) roster[place] = last;
}

export function readVerdict(facts: Facts, event: RecordEvent): void {
  const body = parseAuditVerdict(event.body);
  const audit = facts.audits.all.find((it) => it.hire === body.hire);
  const asked = audit?.asked.at(-1);
  if (audit === undefined || asked === undefined || !isOpen(audit)) return;
  if (audit.round !== body.round || audit.attempt !== body.attempt) return;
  if (asked.round !== body.round || asked.attempt !== body.attempt) return;
  if (asked.auditor !== event.signer || asked.verdict !== null || !followed(facts, audit.operator)) return;
  if (audit.receipt?.hashes.join() !== [body.params_hash, body.result_hash].join()) return;
  asked.verdict = body.verdict;
  offerOf(facts, audit.operator, asked.auditor).missed = 0;
  if (body.verdict !== "inconclusive") {
    decide(facts, event, audit, body.verdict);
    return;
  }
  if (audit.status === "assigned") next(facts, event.time, audit);
}

function offerOf({ audits }: Facts, operator: string, agent: string): Offer {
  return audits.offers.find((it) => it.operator === operator && it.agent === agent) as Offer;
}

function decide(
  facts: Facts,
  { block, time }: { block: number; time: number },
  audit: Audit,
  word: string,
): void {
  audit.words += word[0];
  const fails = [...audit.words].filter((it) => it === "f").length;
  const passes = audit.words.length - fails;
  if (fails === 2 || passes === 2) {
    close(facts, time, audit, fails === 2 ? "failed" : "passed");
  } else if (audit.words === "p") {
    audit.status = "rechecking";
    queue(facts, block, "recheck", facts.params.audit.recheckPpm, audit);
  } else newRound(facts, audit);
}

function newRound(facts: Facts, audit: Audit): void {
  audit.round += 1;
  audit.attempt = 0;
  wait(facts, audit);
}

function wait(facts: Facts, audit: Audit): void {
  audit.status = "assigning";
  facts.audits.waiting.push(audit);
}

/** The one asked last gave no word in time, or none that helps. */
function next(facts: Facts, time: number, audit: Audit): void {
  if (audit.attempt >= facts.params.audit.maxAttempts) {
    miss(facts, audit);
    close(facts, time, audit, "inconclusive");
    return;
  }
  wait(facts, audit);
}

/** Holds it against whoever was asked last in this round and never answered. */
function miss(facts: Facts, audit: Audit): void {
  const asked = audit.asked.at(-1);
  if (audit.attempt === 0 || asked === undefined || asked.verdict !== null) return;
  const offer = offerOf(facts, audit.operator, asked.auditor);
  offer.missed += 1;
  if (!offer.isIn || offer.missed < facts.params.audit.maxUnanswered) return;
  for (const capability of offer.capabilities) leave(facts, offer.operator, capability, offer.agent);
  offer.isIn = false;
  offer.removedFor = "unanswered";
}

const drawNumber = (...words: (string | number)[]): bigint =>
  createHash("sha256").update(words.join(" ")).digest().readBigUInt64BE();

/** What a tick does for audits, after the windows have moved. */
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
  if (event.hash !== undefined) drawAll(facts, event, event.hash);
  const waiting = new Set(audits.waiting);
  audits.waiting = [];
  for (const audit of waiting) {
    if (audit.status !== "assigning") continue;
    if (!followed(facts, audit.operator)) close(facts, event.time, audit, "abandoned");
    else if (event.hash === undefined || !assign(facts, event, event.hash, audit)) audits.waiting.push(audit);
  }
}

/** Who has not said what it did in time may be drawn for that. */
function endSilence(facts: Facts, event: TickEvent, before: number): void {
  if (Object.keys(facts.params.audit.operators).length === 0) return;
  const { silent, all } = facts.audits;
  const due = silent.filter((it) => it.due > before && it.due <= event.time);
  const step = (it: { due: number }) => Math.floor(it.due / 300);
  for (const { hire } of due.toSorted((a, b) => step(a) - step(b))) {
    if (all.some((it) => it.hire === hire.id) || !(hire.receipt?.hashes.includes(null) ?? true)) continue;
    const found = consentTo(facts, paidOf(hire), hire.capability);
    if (found !== null) admit(facts, event, paidOf(hire), { ...found, isListed: false });
  }
}

/** Whoever stood in a queue before this block is drawn or not: one place after the other. */
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
  if (!isDrawn || audit.status !== "eligible" || !isFollowed) return;
  audit.drawn = event.block;
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
    const asked = { audit, round, attempt, auditor, host, time: event.time, due, over, verdict: null };
    audit.attempt = attempt;
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
  if (facts.agents.get(auditor)?.tier !== 2) return "tier";
  const good = facts.hires.filter((it) => it.seller === auditor && it.outcome === "success");
  if (!good.some((it) => it.capability === capability && inWindow(facts, it))) return "capability";
  if (sides.some((it) => together(facts, it, auditor))) return "cluster";
  const forPair = facts.audits.asked.filter(
    (it) => it.auditor === auditor && it.audit.buyer === buyer && it.audit.seller === seller,
  );
  if (forPair.some(({ time }) => time > now - facts.params.audit.pairSeconds)) return "pair";
  for (const before of audit.asked) {
    if (before.auditor === auditor) return "earlier";
    const handles = [before.auditor, auditor].map((it) => facts.handles.get(it) ?? null);
    const sameHandle = handles[0] !== null && handles[0] === handles[1];
    const sameHost = before.host === offerOf(facts, audit.operator, auditor).host;
    if (audit.round > 1 && (together(facts, before.auditor, auditor) || sameHandle || sameHost))
      return "akin";
  }
  return null;
}

/** In one cluster, or one buyer: in one over several clusters of either kind. */
function together(facts: Facts, a: string, b: string): boolean {
  if (sharedSize(facts, a, b) > 1) return true;
  const parties = components([...ownershipGroups(facts), ...fingerprintGroups(facts)]);
  return parties.some((it) => it.has(a) && it.has(b));
}

/** What the rows of the derivation say of audits, in the same words. */
export function tellAudits({ audits }: Facts) {
  return {
    audits: Object.fromEntries(
      audits.all.map((it) => [
        it.hire,
        {
          ...{ operator: it.operator, capability: it.capability, seller: it.seller, buyer: it.buyer },
          ...{ receipt: it.receipt?.hash ?? null, isDisclosed: it.isDisclosed, ppm: it.ppm, cause: it.cause },
          ...{ status: it.status, reason: it.reason, round: it.round, attempt: it.attempt },
          decision: it.decision,
          ...{ verdicts: it.words, eligibleBlock: it.block, drawnBlock: it.drawn, closedTime: it.closed },
          asked: it.asked.map(({ round, attempt, auditor, time, over, verdict }) => {
            return { round, attempt, auditor, time, passedOver: over.join(), verdict };
          }),
        },
      ]),
    ),
    auditors: Object.fromEntries(
      audits.offers.map(({ operator, agent, isIn, missed, removedFor }) => [
        `${operator}/${agent}`,
        { isActive: isIn, unanswered: missed, removedFor },
      ]),
    ),
  };
}
