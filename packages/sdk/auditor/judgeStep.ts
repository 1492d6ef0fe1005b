import { readDisclosure } from "tallystick-protocol/audits/disclosure";
import { readForeignJson } from "tallystick-protocol/json/foreignJson";
import { abortable, startDeadline } from "../deadline.ts";
import {
  type AuditMoves,
  type AuditStep,
  type AuditStepParameters,
  isPast,
  JUDGED_SHARE,
} from "./auditStep.ts";
import type { AuditWork } from "./auditWork.ts";
import { disclosedHireOf } from "./disclosedHireOf.ts";
import { type AuditCase, type Judgement, readJudgement } from "./judge.ts";
import { withoutQuotes } from "./withoutQuotes.ts";

/** Gives the work to the judge and stores the judgement, without the texts of reasons that quote the work. */
export function judgeStep(parameters: AuditStepParameters, { forward, later }: AuditMoves): AuditStep {
  const { judge, works, judgeMs = 600_000, now, log } = parameters;

  async function ask(auditCase: AuditCase, outer: AbortSignal): Promise<Judgement | undefined> {
    const limit = startDeadline(judgeMs, outer);
    const { signal } = limit;
    try {
      const { token } = auditCase;
      const remember = <T>(name: string, make: () => Promise<T>) => works.remember(token, name, make);
      const said = await abortable(judge(auditCase, { signal, remember }), signal);
      return said === undefined ? undefined : readJudgement(said);
    } finally {
      limit.end();
    }
  }

  async function notJudged(work: AuditWork, failure: string | undefined): Promise<AuditWork> {
    if (isPast(work, JUDGED_SHARE, now())) {
      const reasons = [{ code: "auditor_error" as const, detail: "no judgement came in time" }];
      return await forward(work, { stage: "decided", judgement: { verdict: "inconclusive", reasons } });
    }
    // Without an error, a person has not decided yet: the next round looks again. After an error, the step pauses.
    return failure === undefined ? work : await later(work, { failure });
  }

  return async (work, signal) => {
    const { token, assignment } = work;
    const text = await works.bytes(token);
    // Somebody deleted the work by hand. The auditor asks for it again.
    if (text === undefined) return await forward(work, { stage: "asking" });
    const shown = readForeignJson(text) as { request: string; result: string };
    const hire = disclosedHireOf(assignment);
    const { params, result } = readDisclosure(shown, hire);
    const dueAt = assignment.due * 1000;
    let judgement: Judgement | undefined;
    try {
      const { capability } = hire;
      judgement = await ask({ token, assignment, capability, params, result, dueAt }, signal);
    } catch (error) {
      signal.throwIfAborted();
      const failure = (error instanceof Error ? error.message : String(error)).slice(0, 300);
      log("A judge could not judge.", { token, error: failure });
      return await notJudged(work, failure);
    }
    if (judgement === undefined) return await notJudged(work, undefined);
    const reasons = withoutQuotes(judgement.reasons, [shown.request, shown.result]);
    return await forward(work, { stage: "decided", judgement: { ...judgement, reasons } });
  };
}
