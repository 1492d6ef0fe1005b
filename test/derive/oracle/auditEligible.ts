import type { RecordEvent, TickEvent } from "tallystick-derive/events";
import { isContested, isElevated, isFirst } from "./auditContests.ts";
import { close } from "./auditEnds.ts";
import { type Audit, followed } from "./auditFacts.ts";
import type { Escrow, Facts, Hire, Receipt } from "./facts.ts";

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

/** The operator whose audits a listing agreed to at a time. The last statement that is valid at that time decides. */
function agreed(facts: Facts, agent: string, capability: string, mode: string, time: number): string | null {
  const said = facts.audits.consents.filter(
    (it) => it.agent === agent && it.capability === capability && it.mode === mode && it.from <= time,
  );
  return said.at(-1)?.operator ?? null;
}

type Paid = {
  escrow: Escrow | null;
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
  escrow: it.escrow,
  hire: it.id,
  seller: it.seller,
  buyer: it.buyer,
  amount: it.amount,
  mode: modeOf(it.escrow),
  paidAt: it.escrow?.depositedTime ?? it.time,
  receipt: it.receipt,
});

/** All hires with a payment and a receipt: first the escrows, settled or not, then the direct hires. */
function receipted(facts: Facts): Paid[] {
  const held = [...facts.escrows.values()].flatMap((escrow): Paid[] => {
    const { id: hire, seller, buyer, amount, depositedTime: paidAt, receipt } = escrow;
    return receipt === null
      ? []
      : [{ escrow, hire, seller, buyer, amount, mode: modeOf(escrow), paidAt, receipt }];
  });
  return [...held, ...facts.hires.filter((it) => it.escrow === null).map(paidOf)];
}

/** Runs after every event: adds the hires that may be audited from now on. */
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
    if (found !== null && (tellsTheWork(receipt) || !found.isListed)) admit(facts, event, paid, found);
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
    if (audit.receipt === null || audit.cause === "history") continue;
    if (audit.status === "failed" || audit.status === "abandoned") continue;
    const { agent, hireId } = audit.receipt;
    if (!contradicts(facts, agent, hireId)) continue;
    if (audit.status === "eligible") audit.cause = "rules";
    close(facts, event.time, audit, "failed", "equivocation");
  }
}

/** Whether a receipt has both hashes, and names its hire by 32 bytes. */
function tellsTheWork({ hireId, hashes }: Receipt): boolean {
  return hireId.length === 66 && /^0x[0-9a-f]+$/.test(hireId) && !hashes.includes(null);
}

/** Whether a seller signed two receipts with different hashes for one hire. */
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
  const version = listed.find((it) => it.mode === paid.mode)?.version ?? "v0";
  return operator !== null && followed(facts, operator) ? { operator, isListed, version } : null;
}

function admit(
  facts: Facts,
  event: { block: number; time: number },
  paid: Paid,
  { operator, isListed, version }: { operator: string; isListed: boolean; version: string },
): void {
  const { all } = facts.audits;
  const { hire, seller, buyer, receipt } = paid;
  if (all.some((it) => it.hire === hire) || paid.amount < BigInt(facts.params.minHireAtomic)) return;
  const cannot = (it: string) => facts.hubs.has(it) || facts.escrowContracts.has(it);
  if (cannot(buyer) || cannot(seller)) return;
  const { rates, ratePpm } = facts.params.audit;
  const capability = receipt?.capability ?? null;
  const usual = Object.entries(rates).find(([it]) => it === capability)?.[1] ?? ratePpm;
  const isWatched = isElevated(facts, event.time, seller, version);
  const now = Math.max(usual, isWatched ? facts.params.audit.elevatedPpm : 0);
  const contested = paid.escrow !== null && isContested(paid.escrow);
  const ppm = contested && isFirst(facts, event.time, paid) ? 1_000_000 : now;
  const audit: Audit = {
    id: hire,
    hire,
    operator,
    capability,
    seller,
    buyer,
    receipt,
    isDisclosed: isListed,
    ppm,
    cause: contested ? "contested" : "sample",
    amount: paid.amount,
    version,
    canary: null,
    status: "eligible",
    reason: null,
    round: 0,
    attempt: 0,
    words: "",
    block: event.block,
    drawn: null,
    drawnAt: null,
    closed: null,
    nobodySince: null,
    mode: null,
    history: null,
    abandonedWhile: null,
    decision: null,
    isDecidedByHand: false,
    counts: null,
    asked: [],
  };
  all.push(audit);
  if (receipt !== null && contradicts(facts, receipt.agent, receipt.hireId)) {
    audit.cause = "rules";
    close(facts, event.time, audit, "failed", "equivocation");
  } else queue(facts, event.block, "sample", ppm, audit);
}

export function queue(
  facts: Facts,
  block: number,
  kind: "sample" | "recheck",
  ppm: number,
  audit: Audit,
): void {
  const { operator } = audit;
  const { queues } = facts.audits;
  const known = queues.find((it) => it.kind === kind && it.operator === operator && it.ppm === ppm);
  if (known === undefined) queues.push({ kind, operator, ppm, items: [{ audit, block }] });
  else known.items.push({ audit, block });
}
/** Adds hires whose receipts did not give the hashes of the work in time. These hires may be drawn for an audit. */
export function endSilence(facts: Facts, event: TickEvent, before: number): void {
  if (Object.keys(facts.params.audit.operators).length === 0) return;
  const { silent, all } = facts.audits;
  const due = silent.filter((it) => it.due > before && it.due <= event.time);
  const step = (it: { due: number }) => Math.floor(it.due / 300);
  for (const { hire } of due.toSorted((a, b) => step(a) - step(b))) {
    if (all.some((it) => it.hire === hire.id) || (hire.receipt !== null && tellsTheWork(hire.receipt)))
      continue;
    const found = consentTo(facts, paidOf(hire), hire.capability);
    if (found !== null) admit(facts, event, paidOf(hire), { ...found, isListed: false });
  }
}
