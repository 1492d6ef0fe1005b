import { parseSla } from "tallystick-protocol/records/sla";
import { parseSlaDispute } from "tallystick-protocol/records/slaDispute";
import { parseSlaPayment } from "tallystick-protocol/records/slaPayment";
import { parseSlaRuling } from "tallystick-protocol/records/slaRuling";
import { findAgent } from "../../agentRow.ts";
import type { ApplyContext } from "../../applyContext.ts";
import type { Reading } from "../../audits/reading.ts";
import type { RecordEvent } from "../../events.ts";
import { disputeSettled, rulingSettled } from "./breaches.ts";
import { bindsTooMuch, MAX_BINDING, slaSettled } from "./settleSla.ts";
import { paymentProblem, paymentSettled } from "./slaPayments.ts";

export function readSla(context: ApplyContext, event: RecordEvent): Reading {
  const body = parseSla(event.body);
  if (event.signer !== body.agent_id) return `signer must be the agent itself, ${body.agent_id}`;
  if (findAgent(context, body.agent_id) === null) return `body.agent_id ${body.agent_id} is no agent`;
  const known = context.store.get("sla", body.agent_id);
  if (known !== null && body.issued_at <= known.issuedAt)
    return `body.issued_at must be above ${known.issuedAt}`;
  if (body.issued_at > context.at.time) return "body.issued_at is later than the record itself";
  if (bindsTooMuch(context, body)) return `more than ${MAX_BINDING} guarantees would bind`;
  return () => slaSettled(context, event, body);
}

export function readSlaDispute(context: ApplyContext, event: RecordEvent): Reading {
  const body = parseSlaDispute(event.body);
  const breach = context.store.get("breach", body.breach);
  if (breach === null) return `there is no breach ${body.breach}`;
  if (event.signer !== breach.agent || body.agent_id !== breach.agent)
    return `signer and body.agent_id must be the breach's agent, ${breach.agent}`;
  if (breach.dispute !== null) return "the breach was disputed before";
  if (breach.status !== "detected" || context.at.time > breach.decidedBy)
    return "the time for a dispute is over";
  return () => disputeSettled(context, breach, event.hash);
}

export function readSlaRuling(context: ApplyContext, event: RecordEvent): Reading {
  const { breach: id, ruling, excuse } = parseSlaRuling(event.body);
  if (!context.params.steward.arbitrators.includes(event.signer))
    return `signer ${event.signer} is no arbitrator`;
  const breach = context.store.get("breach", id);
  if (breach === null) return `there is no breach ${id}`;
  const isAwaited = breach.status === "disputed" && context.at.time <= breach.decidedBy;
  const mayBe = {
    upheld: isAwaited,
    overturned: breach.status !== "overturned",
    reinstated: breach.status === "confirmed",
  };
  if (!mayBe[ruling]) return `a breach that is ${breach.status} cannot be ${ruling} now`;
  if (ruling === "overturned" && breach.status === "detected") return "the breach is not disputed";
  return () => rulingSettled(context, breach, { ruling, excuse, record: event.hash });
}

export function readSlaPayment(context: ApplyContext, event: RecordEvent): Reading {
  const body = parseSlaPayment(event.body);
  const breach = context.store.get("breach", body.breach);
  if (breach === null) return `there is no breach ${body.breach}`;
  if (event.signer !== breach.agent) return `signer must be the breach's agent, ${breach.agent}`;
  const problem = paymentProblem(context, breach, body);
  return problem ?? (() => paymentSettled(context, breach.id, body, event.hash));
}
