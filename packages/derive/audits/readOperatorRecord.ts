import { parseAuditActuation } from "tallystick-protocol/records/auditActuation";
import { parseAuditHistory } from "tallystick-protocol/records/auditHistory";
import { parseAuditJudge } from "tallystick-protocol/records/auditJudge";
import { parseAuditMode } from "tallystick-protocol/records/auditMode";
import type { RecordEvent } from "../events.ts";
import type { Step } from "../step.ts";
import type { Row } from "../tables.ts";
import { ask, assignmentsOf, awaitAuditor, endAttempt } from "./assignments.ts";
import { changeAudit, isOperator } from "./auditRow.ts";
import { isSideOf } from "./bars.ts";
import { rollBack } from "./effects.ts";
import { historyOf } from "./history.ts";
import { backToBootstrap, findMode, modeOf, wasJustifiedBy } from "./modes.ts";
import { countFor } from "./operators.ts";
import type { Reading } from "./reading.ts";

/** Its operator decides what becomes of a challenged hire. */
export async function readActuation(step: Step, event: RecordEvent): Promise<Reading> {
  const { hire, decision } = parseAuditActuation(event.body);
  const audit = await step.store.get("audit", hire);
  if (audit === null || audit.status !== "failed") return "no audit of this hire has failed";
  if (audit.operator !== event.signer) return `signer must be the audit's operator, ${audit.operator}`;
  if (!isOperator(step, audit.operator)) return `${audit.operator} is no operator of audits`;
  if (audit.cause === "contested") return "it failed where its buyer had taken its money back already";
  if (audit.decision !== null) return `it was decided before: ${audit.decision}`;
  return async () => {
    const decided = await changeAudit(step, audit, { decision, decisionRecord: event.hash });
    await countFor(step, audit.operator, decision === "rollback" ? "rolledBack" : "dismissed");
    if (decision === "rollback") await rollBack(step, decided);
  };
}

/** An operator takes a capability of its own back to bootstrap (SHP §8.3.4.3). */
export async function readMode(step: Step, event: RecordEvent): Promise<Reading> {
  const { capability, justification } = parseAuditMode(event.body);
  if (!isOperator(step, event.signer)) return `signer ${event.signer} is no operator of audits`;
  const row = await findMode(step, { operator: event.signer, capability });
  if (row?.mode !== "mature") return `body.capability ${capability} is in bootstrap`;
  if (await wasJustifiedBy(step, row, justification))
    return "body.justification took the capability back before";
  return () => backToBootstrap(step, row, { justification, record: event.hash });
}

/** An operator takes a round itself, since nobody could be assigned for so long (SHP §8.3.4.2). */
export async function readJudge(step: Step, event: RecordEvent): Promise<Reading> {
  const { hire, round, models } = parseAuditJudge(event.body);
  const audit = await step.store.get("audit", hire);
  if (audit === null || audit.status !== "assigning" || audit.round !== round)
    return `round ${round} of this hire waits for nobody`;
  const { operator } = audit;
  if (operator !== event.signer) return `signer must be the audit's operator, ${operator}`;
  if (!isOperator(step, operator)) return `${operator} is no operator of audits`;
  if ((await modeOf(step, operator, audit.capability)) === "mature")
    return `${audit.capability} is mature: its auditors judge alone`;
  const { judgeAfterSeconds } = step.params.audit;
  const { unassignedSince: since } = audit;
  if (since === null || step.state.time - since < judgeAfterSeconds)
    return `nobody has been eligible for less than ${judgeAfterSeconds} seconds`;
  if (await isSideOf(step, audit, operator)) return "its operator is on a side of the hire";
  const earlier = await assignmentsOf(step, hire);
  if (earlier.some((it) => it.round === round && it.auditorType === "operator-issued"))
    return "its operator took this round before";
  return () => judge(step, audit, models);
}

async function judge(step: Step, audit: Row<"audit">, models: string[]): Promise<void> {
  await endAttempt(step, audit);
  await ask(
    step,
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

/** Has a hire judged again that its operator decided on before the capability was mature. */
export async function readHistory(step: Step, event: RecordEvent): Promise<Reading> {
  const { hire } = parseAuditHistory(event.body);
  const audit = await step.store.get("audit", hire);
  if (audit === null || audit.status !== "failed") return "no audit of this hire has failed";
  const { operator, capability } = audit;
  if (operator !== event.signer) return `signer must be the audit's operator, ${operator}`;
  if (!isOperator(step, operator)) return `${operator} is no operator of audits`;
  if (audit.mode !== "bootstrap" || audit.decision === null) return "its operator has decided nothing of it";
  if (audit.reason !== null) return `it failed by the rules alone: ${audit.reason}`;
  if ((await modeOf(step, operator, capability)) !== "mature") return `${capability} is in bootstrap`;
  if ((await step.store.get("audit", historyOf(hire))) !== null) return "it was judged again before";
  return () => judgeAgain(step, audit);
}

async function judgeAgain(step: Step, first: Row<"audit">): Promise<void> {
  const { block, time } = step.at;
  const audit: Row<"audit"> = {
    ...first,
    ...{ id: historyOf(first.hire), cause: "history", status: "eligible" },
    ...{ attempt: 0, verdicts: "", operatorFails: 0, unassignedSince: null },
    ...{ eligibleBlock: block, eligibleTime: time, drawnBlock: block, drawnTime: time, closedTime: null },
    ...{ mode: null, decision: null, decisionRecord: null, history: null, counted: null },
    ...{ isRefundFalse: false, canary: null },
  };
  await step.store.insert("audit", audit);
  await awaitAuditor(step, audit, first.round + 1);
}
