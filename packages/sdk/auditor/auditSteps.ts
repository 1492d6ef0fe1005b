import { TallystickError } from "tallystick-protocol/errors";
import { askStep } from "./askStep.ts";
import {
  type AuditMoves,
  type AuditStep,
  type AuditStepParameters,
  isPast,
  JUDGED_SHARE,
} from "./auditStep.ts";
import type { AuditWork } from "./auditWork.ts";
import { judgeStep } from "./judgeStep.ts";
import { verdictStep } from "./verdictStep.ts";

/** The shortest and the longest wait after a failed step, in milliseconds. Each wait is twice as long as the last. */
const FIRST_WAIT_MS = 60_000;
const MAX_WAIT_MS = 3_600_000;

/**
 * Takes an audit as far as it can go now, and returns its new state. The stage is stored before each step, so that
 * the step can be repeated after a crash.
 */
export function auditSteps(parameters: AuditStepParameters): AuditStep {
  const { works, now, log } = parameters;
  const save = async (work: AuditWork, change: Partial<AuditWork>): Promise<AuditWork> => {
    const next = { ...work, ...change };
    await works.put(next);
    return next;
  };
  const moves: AuditMoves = {
    forward: (work, change) => save(work, { tries: 0, nextAt: now(), ...change }),
    later: (work, change) => {
      const wait = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(16, work.tries));
      return save(work, { ...change, tries: work.tries + 1, nextAt: now() + wait });
    },
  };
  const step = {
    asking: askStep(parameters, moves),
    judging: judgeStep(parameters, moves),
    decided: verdictStep(parameters, moves),
  };

  /**
   * Gives a verdict to an audit whose step failed, so that the auditor never counts as one that does not answer. If no
   * work can match the receipt, the seller is at fault. After any other error the next rounds try again, as long as
   * there is time.
   */
  async function withoutAnswer(work: AuditWork, error: unknown, signal: AbortSignal): Promise<AuditWork> {
    signal.throwIfAborted();
    const isSellers = error instanceof TallystickError && error.code === "not_auditable";
    if (work.stage === "decided" || (!isSellers && !isPast(work, JUDGED_SHARE, now()))) throw error;
    log("An audit ends with an error.", { token: work.token, error: String(error) });
    return await moves.forward(work, {
      stage: "decided",
      judgement: isSellers
        ? {
            verdict: "fail",
            reasons: [{ code: "undisclosed", detail: "the receipt does not name the work" }],
          }
        : {
            verdict: "inconclusive",
            reasons: [{ code: "auditor_error", detail: "the audit could not go on" }],
          },
    });
  }

  return async (start, signal) => {
    let work = start;
    while (work.stage !== "posted" && work.stage !== "over") {
      if (work.nextAt > now()) return work;
      const next = await step[work.stage](work, signal).catch((error) => withoutAnswer(work, error, signal));
      if (next.stage === work.stage) return next;
      work = next;
    }
    return work;
  };
}
