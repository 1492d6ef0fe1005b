import { parseAuditActuation } from "tallystick-protocol/records/auditActuation";
import { parseAuditHistory } from "tallystick-protocol/records/auditHistory";
import { parseAuditJudge } from "tallystick-protocol/records/auditJudge";
import { parseAuditMode } from "tallystick-protocol/records/auditMode";
import type { ApplyContext } from "../applyContext.ts";
import type { RecordEvent } from "../events.ts";
import type { Row } from "../tables.ts";
import { ask, assignmentsOf, awaitAuditor, endAttempt } from "./assignments.ts";
import { changeAudit, isOperator } from "./auditRow.ts";
import { isSideOf } from "./bars.ts";
import { rollBack } from "./effects.ts";
import { historyOf } from "./history.ts";
import { backToBootstrap, findMode, modeOf, wasJustifiedBy } from "./modes.ts";
import { countFor } from "./operators.ts";
import type { Reading } from "./reading.ts";

/** Reads an operator's decision about a challenged hire. */
export function readActuation(context: ApplyContext, event: RecordEvent): Reading {
  const { hire, decision } = parseAuditActuation(event.body);
  const audit = context.store.get("audit", hire);
  if (audit === null || audit.status !== "failed") return "no audit of this hire has failed";
  if (audit.operator !== event.signer) return `signer must be the audit's operator, ${audit.operator}`;
  if (!isOperator(context, audit.operator)) return `${audit.operator} is no operator of audits`;
  if (audit.cause === "contested")
    return "its buyer had taken the money back before, so there is nothing to decide";
  if (audit.decision !== null) return `it was decided before: ${audit.decision}`;
  return () => {
    const decided = changeAudit(context, audit, { decision, decisionRecord: event.hash });
    countFor(context, audit.operator, decision === "rollback" ? "rolledBack" : "dismissed");
    if (decision === "rollback") rollBack(context, decided);
  };
}

/** Reads an operator's record that takes one of its capabilities back to bootstrap (SHP §8.3.4.3). */
export function readMode(context: ApplyContext, event: RecordEvent): Reading {
  const { capability, justification } = parseAuditMode(event.body);
  if (!isOperator(context, event.signer)) return `signer ${event.signer} is no operator of audits`;
  const row = findMode(context, { operator: event.signer, capability });
  if (row?.mode !== "mature") return `body.capability ${capability} is in bootstrap`;
  if (wasJustifiedBy(context, row, justification))
    return "body.justification took the capability back before";
  return () => backToBootstrap(context, row, { justification, record: event.hash });
}

/**
 * Reads an operator's record that assigns a round to the operator itself. The operator may do so after a long time in
 * which no auditor could be assigned (SHP §8.3.4.2). The verdict comes in a record of its own.
 */
export function readJudge(context: ApplyContext, event: RecordEvent): Reading {
  const { hire, round, models } = parseAuditJudge(event.body);
  const audit = context.store.get("audit", hire);
  if (audit === null || audit.status !== "assigning" || audit.round !== round)
    return `round ${round} of this hire does not wait for an auditor`;
  const { operator } = audit;
  if (operator !== event.signer) return `signer must be the audit's operator, ${operator}`;
  if (!isOperator(context, operator)) return `${operator} is no operator of audits`;
  if (modeOf(context, operator, audit.capability) === "mature")
    return `${audit.capability} is mature: its auditors judge alone`;
  const { judgeAfterSeconds } = context.params.audit;
  const { unassignedSince: since } = audit;
  if (since === null || context.state.time - since < judgeAfterSeconds)
    return `the round has waited for an auditor for less than ${judgeAfterSeconds} seconds`;
  if (isSideOf(context, audit, operator)) return "its operator is on a side of the hire";
  const earlier = assignmentsOf(context, hire);
  if (earlier.some((it) => it.round === round && it.auditorType === "operator-issued"))
    return "its operator took this round before";
  return () => judge(context, audit, models);
}

function judge(context: ApplyContext, audit: Row<"audit">, models: string[]): void {
  endAttempt(context, audit);
  ask(
    context,
    { ...audit, attempt: audit.attempt + 1 },
    {
      auditor: audit.operator,
      auditorType: "operator-issued",
      models: models.join("\n"),
      passedOver: "",
      host: "",
    },
  );
}

/**
 * Reads an operator's request to judge a hire again. The operator had decided on this hire before the capability was
 * mature.
 */
export function readHistory(context: ApplyContext, event: RecordEvent): Reading {
  const { hire } = parseAuditHistory(event.body);
  const audit = context.store.get("audit", hire);
  if (audit === null || audit.status !== "failed") return "no audit of this hire has failed";
  const { operator, capability } = audit;
  if (operator !== event.signer) return `signer must be the audit's operator, ${operator}`;
  if (!isOperator(context, operator)) return `${operator} is no operator of audits`;
  if (audit.mode !== "bootstrap" || audit.decision === null)
    return "its operator has made no decision about it";
  if (audit.reason !== null) return `it failed by the rules alone: ${audit.reason}`;
  if (modeOf(context, operator, capability) !== "mature") return `${capability} is in bootstrap`;
  if (context.store.get("audit", historyOf(hire)) !== null) return "it was judged again before";
  return () => judgeAgain(context, audit);
}

function judgeAgain(context: ApplyContext, first: Row<"audit">): void {
  const { block, time } = context.at;
  const audit: Row<"audit"> = {
    ...first,
    ...{ id: historyOf(first.hire), cause: "history", status: "eligible" },
    ...{ attempt: 0, verdicts: "", operatorFails: 0, unassignedSince: null },
    ...{ eligibleBlock: block, eligibleTime: time, drawnBlock: block, drawnTime: time, closedTime: null },
    ...{ mode: null, decision: null, decisionRecord: null, history: null, counted: null },
    ...{ isRefundFalse: false, canary: null },
  };
  context.store.insert("audit", audit);
  awaitAuditor(context, audit, first.round + 1);
}
