import type { RecordEvent, TickEvent } from "tallystick-derive/events";
import { parseAuditMode } from "tallystick-protocol/records/auditMode";
import { followed, parties, rosterOf } from "./auditFacts.ts";
import type { Facts } from "./facts.ts";
import { ownFamilyOf } from "./families.ts";

export function modeOf({ audits }: Facts, operator: string, capability: string | null): string {
  const last = audits.modes.findLast((it) => it.operator === operator && it.capability === capability);
  return last?.to ?? "bootstrap";
}

/** Decides which capabilities become mature. Only capabilities with a verdict since the last tick are checked. */
export function settleModes(facts: Facts, event: TickEvent): void {
  const { audits, params } = facts;
  const news = audits.words.filter(({ at }) => at > audits.lastTick);
  audits.lastTick = facts.now;
  for (const { operator, capability } of news) {
    if (modeOf(facts, operator, capability) === "mature" || !followed(facts, operator)) continue;
    const isHere = (it: { operator: string; capability: string | null }) =>
      it.operator === operator && it.capability === capability;
    const since = audits.modes.findLast(isHere)?.at ?? -1;
    const asked = audits.asked.filter((it) => it.at > since && it.models === null && isHere(it.audit));
    const first = Math.min(...asked.map(({ time }) => time));
    const good = rosterOf(facts, operator, capability);
    const groups = parties(facts);
    const owners = new Set(
      good.map((it) => groups.find((group) => group.has(it)) ?? ownFamilyOf(facts, it) ?? it),
    );
    const recent = audits.words.filter((it) => isHere(it) && event.time < it.until);
    const { numerator, denominator } = params.audit.matureShare;
    const isOften = (auditor: string) =>
      recent.filter((it) => it.auditor === auditor).length * denominator > recent.length * numerator;
    if (event.time < first + params.audit.matureSeconds) continue;
    if (good.length < params.audit.matureAuditors || owners.size < params.audit.matureClusters) continue;
    if (recent.some((it) => isOften(it.auditor))) continue;
    const block = event.block;
    audits.modes.push({ operator, capability, to: "mature", justification: null, at: facts.now, block });
  }
}

export function readMode(facts: Facts, event: RecordEvent): void {
  const { capability, justification } = parseAuditMode(event.body);
  const { signer: operator, block } = event;
  const { modes } = facts.audits;
  if (!followed(facts, operator) || modeOf(facts, operator, capability) !== "mature") return;
  const isSaid = modes.some(
    (it) => it.operator === operator && it.capability === capability && it.justification === justification,
  );
  if (!isSaid) modes.push({ operator, capability, to: "bootstrap", justification, at: facts.now, block });
}
