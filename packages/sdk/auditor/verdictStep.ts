import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { type SignedRecord, signRecord } from "tallystick-protocol/records/record";
import { expectSettled } from "../expectSettled.ts";
import { requestService, ServiceError } from "../requestService.ts";
import type { AuditMoves, AuditStep, AuditStepParameters } from "./auditStep.ts";
import type { AuditWork } from "./auditWork.ts";
import type { Judgement } from "./judge.ts";

/**
 * Signs the verdict and puts it into the ledger, then deletes the work. If the ledger refuses the verdict, the
 * audit is over.
 */
export function verdictStep(parameters: AuditStepParameters, { forward, later }: AuditMoves): AuditStep {
  const { account, baseUrl, fetch, ledger, works, log } = parameters;

  /**
   * Signs and stores the verdict, or returns the stored verdict. The first verdict stays, even if the work is
   * judged again after a crash.
   */
  async function verdictOf(
    { token, assignment, judgement }: AuditWork,
    signal: AbortSignal,
  ): Promise<SignedRecord> {
    const known = await works.verdict(token);
    if (known) return known;
    const { hire, round, attempt, paramsHash, resultHash } = assignment;
    const { verdict, reasons } = judgement as Judgement;
    const said = { hire, round, attempt, verdict, reasons, params_hash: paramsHash, result_hash: resultHash };
    const statement = { type: "audit_verdict", ledger: await ledger(signal), body: said as RecordBody };
    return await works.fixVerdict(token, await signRecord({ ...statement, account }));
  }

  return async (work, signal) => {
    const { token } = work;
    const record = await verdictOf(work, signal);
    try {
      const { text } = await requestService({ baseUrl, path: "/v1/records", body: record, fetch, signal });
      expectSettled(text);
    } catch (error) {
      signal.throwIfAborted();
      const failure = String(error).slice(0, 300);
      if (!(error instanceof ServiceError && error.isRefusal)) return await later(work, { failure });
      log("The ledger refuses a verdict.", { token, error: failure });
      await works.forgetBytes(token);
      return await forward(work, { stage: "over", failure });
    }
    // The work is not needed any more. It is deleted before the stage `posted` is stored: if this process ends in
    // between, the next process takes this step again and deletes it.
    await works.forgetBytes(token);
    const posted = await forward(work, { stage: "posted" });
    log("A verdict is in the ledger.", { token, verdict: record.body.verdict });
    return posted;
  };
}
