import type { RecordEvent } from "tallystick-derive/events";
import { parseAuditActuation } from "tallystick-protocol/records/auditActuation";
import { parseAuditHistory } from "tallystick-protocol/records/auditHistory";
import { parseAuditJudge } from "tallystick-protocol/records/auditJudge";
import { parseAuditor } from "tallystick-protocol/records/auditor";
import { parseAuditVerdict } from "tallystick-protocol/records/auditVerdict";
import { undo } from "./auditEnds.ts";
import {
  areSameFamily,
  followed,
  isBehind,
  isOpen,
  join,
  leave,
  type Offer,
  offerOf,
  together,
} from "./auditFacts.ts";
import { modeOf } from "./auditModes.ts";
import { earnWord } from "./auditMoney.ts";
import { decide, miss, newRound, next } from "./auditRounds.ts";
import type { Facts } from "./facts.ts";

/** The operator's decision on a hire that failed. */
export function readActuation(facts: Facts, event: RecordEvent): void {
  const { hire: id, decision } = parseAuditActuation(event.body);
  const audit = facts.audits.all.find((it) => it.id === id);
  if (audit === undefined || audit.status !== "failed" || audit.decision !== null) return;
  if (audit.operator !== event.signer || !followed(facts, audit.operator)) return;
  if (audit.cause === "contested") return;
  audit.decision = decision;
  audit.isDecidedByHand = true;
  if (decision === "rollback") undo(facts, event.time, audit);
}

export function readAuditor(facts: Facts, event: RecordEvent): void {
  const body = parseAuditor(event.body);
  if (event.signer !== body.agent_id || !followed(facts, body.operator)) return;
  const { offers } = facts.audits;
  const at = offers.findIndex((it) => it.agent === body.agent_id && it.operator === body.operator);
  const known = offers[at];
  if (known !== undefined && known.issuedAt >= body.issued_at) return;
  if (known !== undefined && known.barred !== null && event.time < known.barred) return;
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
    barred: null,
    epoch: known?.epoch ?? 0,
  };
  if (at < 0) offers.push(offer);
  else offers[at] = offer;
  if (facts.agents.get(body.agent_id)?.tier !== 2) return;
  for (const capability of capabilities) join(facts, body.operator, capability, body.agent_id);
}
export function readVerdict(facts: Facts, event: RecordEvent): void {
  const body = parseAuditVerdict(event.body);
  // Only the last audit of a hire can be open.
  const audit = facts.audits.all.findLast((it) => it.hire === body.hire);
  const asked = audit?.asked.at(-1);
  if (audit === undefined || asked === undefined || !isOpen(audit)) return;
  if (audit.round !== body.round || audit.attempt !== body.attempt) return;
  if (asked.round !== body.round || asked.attempt !== body.attempt) return;
  if (asked.auditor !== event.signer || asked.verdict !== null || !followed(facts, audit.operator)) return;
  if (audit.receipt?.hashes.join() !== [body.params_hash, body.result_hash].join()) return;
  asked.verdict = body.verdict;
  if (asked.models === null) offerOf(facts, audit.operator, asked.auditor).missed = 0;
  earnWord(facts, event.time, audit, asked);
  const { operator, capability } = audit;
  const until = Math.max(event.time + facts.params.audit.matureShareSeconds, facts.asOf + 1);
  facts.audits.words.push({
    ...{ operator, capability: capability ?? "", auditor: asked.auditor, at: facts.now, until },
  });
  if (body.verdict !== "inconclusive") {
    decide(facts, event, audit, body.verdict);
    return;
  }
  if (audit.status === "assigned") next(facts, event.time, audit);
}

/** The operator judges a round itself. */
export function readJudge(facts: Facts, event: RecordEvent): void {
  const { hire, round, models } = parseAuditJudge(event.body);
  const audit = facts.audits.all.find((it) => it.id === hire);
  if (audit === undefined || audit.status !== "assigning" || audit.round !== round) return;
  const { operator, capability, seller, buyer } = audit;
  if (operator !== event.signer || !followed(facts, operator)) return;
  if (modeOf(facts, operator, capability) === "mature" || audit.nobodySince === null) return;
  if (facts.asOf < audit.nobodySince + facts.params.audit.judgeAfterSeconds) return;
  const isOfSide = (it: string) =>
    it === operator || together(facts, it, operator) || areSameFamily(facts, it, operator);
  if ([seller, buyer].some(isOfSide) || isBehind(facts, buyer, operator)) return;
  if (audit.asked.some((it) => it.round === round && it.models !== null)) return;
  miss(facts, audit);
  audit.attempt += 1;
  audit.status = "assigned";
  audit.nobodySince = null;
  const due = event.time + facts.params.audit.verdictSeconds;
  const { attempt } = audit;
  const asked = {
    ...{ audit, round, attempt, auditor: operator, host: "", time: event.time, due, at: facts.now, models },
    ...{ over: [], verdict: null, isMissed: false, fee: 0n },
  };
  audit.asked.push(asked);
  facts.audits.asked.push(asked);
}

/** The operator lets a hire that it decided in bootstrap mode be judged again. */
export function readHistory(facts: Facts, event: RecordEvent): void {
  const { hire } = parseAuditHistory(event.body);
  const { all } = facts.audits;
  const first = all.find((it) => it.id === hire);
  if (first === undefined || all.some((it) => it.id === `${hire}/history`)) return;
  if (first.status !== "failed" || first.reason !== null || first.operator !== event.signer) return;
  if (!followed(facts, first.operator) || first.mode !== "bootstrap" || first.decision === null) return;
  if (modeOf(facts, first.operator, first.capability) !== "mature") return;
  const again = {
    ...first,
    ...{ id: `${hire}/history`, cause: "history", attempt: 0, words: "", block: event.block },
    ...{
      drawn: event.block,
      drawnAt: event.time,
      closed: null,
      nobodySince: null,
      mode: null,
      history: null,
    },
    ...{
      canary: null,
      abandonedWhile: null,
      decision: null,
      isDecidedByHand: false,
      counts: null,
      asked: [],
    },
  };
  all.push(again);
  newRound(facts, again);
}
