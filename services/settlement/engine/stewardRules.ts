import type { InputIssue } from "tallystick-protocol/errors";
import { parseAttestation } from "tallystick-protocol/records/attestation";
import { checkEndorsedSignature, parseEndorsement } from "tallystick-protocol/records/endorsement";
import { parseMonitoring } from "tallystick-protocol/records/monitoring";
import type { SignedRecord } from "tallystick-protocol/records/record";
import { parseSla } from "tallystick-protocol/records/sla";
import { parseSlaDispute } from "tallystick-protocol/records/slaDispute";
import { parseSlaPayment } from "tallystick-protocol/records/slaPayment";
import { parseSlaRuling } from "tallystick-protocol/records/slaRuling";
import { parseUptime } from "tallystick-protocol/records/uptime";

const HOUR = 3_600;
const DAY = 86_400;

/** The checks of the records of the second trust model and its SLAs (STEWARD), by type. */
const RULES = {
  attestation: ({ body }, latest) => inFuture("ran_at", parseAttestation(body).ran_at, latest),
  uptime: ({ body }, latest) => {
    const { hour } = parseUptime(body);
    if ((hour + 1) * HOUR <= latest) return [];
    return [{ field: "body.hour", message: "is not over yet; it is unix seconds / 3600" }];
  },
  monitoring: ({ body }, latest) => {
    const { day, agents } = parseMonitoring(body);
    const issues = Object.entries(agents).flatMap(([agent, { asked_at: askedAt }]) =>
      inFuture(`agents.${agent}.asked_at`, askedAt, latest),
    );
    if (day * DAY > latest)
      issues.push({ field: "body.day", message: "has not begun; it is unix seconds / 86400" });
    return issues;
  },
  endorsement: ({ body, signer }, latest) => {
    const { agent_id: agent, endorser, revoked, issued_at: issuedAt } = parseEndorsement(body);
    const issues = inFuture("issued_at", issuedAt, latest);
    if (signer !== endorser)
      issues.push({ field: "signer", message: `must be the endorser itself, ${endorser}` });
    if (agent === endorser)
      issues.push({ field: "body.agent_id", message: "must not be the endorser itself" });
    if (revoked !== true && !checkEndorsedSignature(body, agent))
      issues.push({
        field: "body.agent_signature",
        message: `must be ${agent}'s signature over the body without this field`,
      });
    return issues;
  },
  sla: (record, latest) => {
    const { agent_id: agent, issued_at: issuedAt } = parseSla(record.body);
    return [...inFuture("issued_at", issuedAt, latest), ...mustBe(record, agent)];
  },
  sla_dispute: (record) => mustBe(record, parseSlaDispute(record.body).agent_id),
  sla_ruling: ({ body }) => {
    parseSlaRuling(body);
    return [];
  },
  sla_payment: ({ body }) => {
    parseSlaPayment(body);
    return [];
  },
} satisfies { [type: string]: (record: SignedRecord, latest: number) => InputIssue[] };

export type StewardRecordType = keyof typeof RULES;

export function isStewardRecordType(type: string): type is StewardRecordType {
  return Object.hasOwn(RULES, type);
}

/**
 * Checks the body of a record of STEWARD. Returns its faults, except those of its form. The derivation decides whose
 * records count, because it knows the attestors, probers and arbitrators in the parameters, and the parties of a
 * breach.
 *
 * @param latest unix seconds that the signer's clock may have reached
 * @throws InvalidInputError naming every field with a wrong form
 */
export function stewardIssues(
  record: SignedRecord & { type: StewardRecordType },
  latest: number,
): InputIssue[] {
  return RULES[record.type](record, latest);
}

function inFuture(field: string, time: number, latest: number): InputIssue[] {
  if (time <= latest) return [];
  return [{ field: `body.${field}`, message: "is in the future; it is unix seconds" }];
}

function mustBe({ signer }: SignedRecord, agent: string): InputIssue[] {
  return signer === agent ? [] : [{ field: "signer", message: `must be the agent itself, ${agent}` }];
}
