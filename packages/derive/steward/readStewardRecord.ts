import { parseAttestation } from "tallystick-protocol/records/attestation";
import { checkEndorsedSignature, parseEndorsement } from "tallystick-protocol/records/endorsement";
import { parseUptime } from "tallystick-protocol/records/uptime";
import { findAgent } from "../agentRow.ts";
import type { ApplyContext } from "../applyContext.ts";
import type { Reading } from "../audits/reading.ts";
import type { RecordEvent } from "../events.ts";
import { attestationSettled } from "./attestations.ts";
import { claimedUp } from "./claimedUp.ts";
import { endorsementId, endorsementSettled } from "./endorsements.ts";
import { hostsProbed, hourEnd, REPORT_SECONDS } from "./probes.ts";
import { servicesProbed } from "./served.ts";
import { readMonitoring } from "./sla/monitoring.ts";
import { readSla, readSlaDispute, readSlaPayment, readSlaRuling } from "./sla/readSlaRecord.ts";

/** The types of records for the trust score and for SLAs, each with the function that reads it. */
export const stewardReaders: ReadonlyMap<string, (context: ApplyContext, event: RecordEvent) => Reading> =
  new Map([
    ["attestation", readAttestation],
    ["uptime", readUptime],
    ["endorsement", readEndorsement],
    ["monitoring", readMonitoring],
    ["sla", readSla],
    ["sla_dispute", readSlaDispute],
    ["sla_ruling", readSlaRuling],
    ["sla_payment", readSlaPayment],
  ]);

function readAttestation(context: ApplyContext, event: RecordEvent): Reading {
  const body = parseAttestation(event.body);
  const isOwn = event.signer === body.agent_id;
  if (!isOwn && !context.params.steward.attestors.includes(event.signer))
    return `signer must be the agent itself, ${body.agent_id}, or an attestor`;
  if (findAgent(context, body.agent_id) === null) return `body.agent_id ${body.agent_id} is no agent`;
  if (body.ran_at > context.at.time) return "body.ran_at is later than the record itself";
  const known = context.store.get("steward", body.agent_id);
  if (known?.ranAt != null && body.ran_at <= known.ranAt) return `body.ran_at must be above ${known.ranAt}`;
  return () => attestationSettled(context, event, body);
}

function readUptime(context: ApplyContext, event: RecordEvent): Reading {
  const body = parseUptime(event.body);
  const end = hourEnd(body.hour);
  if (context.at.time < end) return "body.hour is not over";
  if (context.at.time > end + REPORT_SECONDS)
    return `body.hour ended more than ${REPORT_SECONDS} seconds ago`;
  const { signer } = event;
  if (context.params.steward.probers.includes(signer)) {
    return () => {
      hostsProbed(context, signer, body);
      servicesProbed(context, signer, body);
    };
  }
  if (findAgent(context, signer) === null) return `signer ${signer} is neither a prober nor an agent`;
  return () => claimedUp(context, signer, body);
}

function readEndorsement(context: ApplyContext, event: RecordEvent): Reading {
  const body = parseEndorsement(event.body);
  const { endorser, agent_id: agent } = body;
  if (event.signer !== endorser) return `signer must be the endorser itself, ${endorser}`;
  if (endorser === agent) return "body.agent_id must not be the endorser itself";
  for (const address of [endorser, agent])
    if (findAgent(context, address) === null) return `${address} is no agent`;
  const known = context.store.get("endorsement", endorsementId(body));
  if (known !== null && body.issued_at <= known.issuedAt)
    return `body.issued_at must be above ${known.issuedAt}`;
  if (body.issued_at > context.at.time) return "body.issued_at is later than the record itself";
  const isAgreed = context.trustSignatures
    ? typeof event.body.agent_signature === "string"
    : checkEndorsedSignature(event.body, agent, context.recover);
  if (body.revoked !== true && !isAgreed)
    return `body.agent_signature must be ${agent}'s signature over the body without this field`;
  return () => endorsementSettled(context, event, body);
}
