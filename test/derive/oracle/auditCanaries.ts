import type { RecordEvent } from "tallystick-derive/events";
import { hireId } from "tallystick-protocol/hire/hireIds";
import { type Canary, parseAuditCanary } from "tallystick-protocol/records/auditCanary";
import { type Audits, followed } from "./auditFacts.ts";
import type { Facts, Hire } from "./facts.ts";
import { inWindow } from "./fields.ts";

export function readCanary(facts: Facts, event: RecordEvent): void {
  const { commitment, reveal } = parseAuditCanary(event.body);
  const { signer: operator, time } = event;
  const { lists } = facts.audits;
  if (!followed(facts, operator)) return;
  const list = lists.find((it) => it.operator === operator && it.commitment === commitment);
  if (reveal === undefined) {
    if (list === undefined) lists.push({ operator, commitment, time, revealed: false, hires: 0, voids: 0 });
    return;
  }
  if (list === undefined || list.revealed) return;
  list.revealed = true;
  list.hires = reveal.hires.length;
  for (const canary of reveal.hires) if (!show(facts, list, canary)) list.voids += 1;
}

function show(facts: Facts, list: Audits["lists"][number], { buyer, nonce, truth }: Canary): boolean {
  const { audits } = facts;
  if (audits.canaries.some((it) => it.buyer === buyer)) return false;
  const found = find(facts, list, buyer, nonce);
  if (typeof found === "string") {
    audits.canaries.push({ buyer, status: found, truth, hire: null });
    return false;
  }
  const words = audits.asked.filter(
    (it) => it.audit.hire === found.id && it.models === null && ["pass", "fail"].includes(it.verdict ?? ""),
  );
  const against = words.filter((it) => (it.verdict === "pass") !== (truth === "good"));
  const isVoid = new Set(against.map((it) => it.auditor)).size > 1;
  const status = isVoid ? "contradicted" : words.length > 0 ? "counted" : "undrawn";
  audits.canaries.push({ buyer, status, truth, hire: found.id });
  if (isVoid) return false;
  for (const { auditor, verdict } of words) {
    const capability = found.capability ?? "";
    audits.measured.push({ operator: list.operator, auditor, capability, truth, verdict: verdict ?? "" });
  }
  found.isCanary = true;
  for (const it of audits.all) {
    if (it.id !== found.id) continue;
    it.canary = truth;
    it.counts = null;
    for (const one of audits.falseRefunds) if (one.audit === it) one.isOver = true;
  }
  return true;
}

/** A wallet's only hire, if the wallet bought it after the commitment and signed it. Otherwise the reason why it is no canary. */
function find(facts: Facts, list: Audits["lists"][number], buyer: string, nonce: string): Hire | string {
  const bought = facts.hires.filter((it) => it.buyer === buyer && !it.isCanary && inWindow(facts, it));
  if (bought.length > 1) return "busy";
  const name = hireId(buyer as `0x${string}`, nonce);
  const [hire] = bought;
  const named = facts.hires.find((it) => it.seller === hire?.seller && it.receipt?.hireId === name);
  if (named === undefined || named.buyer !== buyer) return "unknown";
  if (named.escrow?.hireId !== name && !named.receipt?.buyerSigned) return "unsigned";
  if ((named.escrow?.depositedTime ?? named.time) <= list.time) return "late";
  const audit = facts.audits.all.find((it) => it.id === named.id);
  return audit?.operator === list.operator ? named : "foreign";
}
