import { TallystickError } from "tallystick-protocol/errors";
import { problem as problemBody, type StatusByCode } from "tallystick-protocol/problem";
import { answerError, problemAnswer } from "tallystick-runtime/http/answerError";
import { isDatabaseAway } from "../databaseWatch.ts";
import { logWarning } from "../ponderProcess.ts";

/** Seconds until the next attempt, for answers that are not available now. */
export const COME_AGAIN = 5;

/** The error codes of this API for clients, in addition to those that mean the same everywhere. */
const STATUS_BY_CODE: StatusByCode = {
  private_metrics: 403,
  unknown_agent: 404,
  unknown_alias: 404,
  unknown_audit: 404,
  unknown_cluster: 404,
  unknown_escrow: 404,
  ambiguous_alias: 409,
  no_trust_score: 404,
  no_report_key: 404,
  not_ready: 503,
};

/** An error answer, with a `code` for programs and one sentence for people. */
export function problem(status: number, code: string, detail: string, more: object = {}): Response {
  return problemAnswer(problemBody(status, code, detail, more), comeAgain(status));
}

/**
 * Converts an error to an answer. Internal errors go to the log, and the client only gets the code
 * `internal`.
 */
export function problemResponse(error: unknown): Response {
  if (!(error instanceof TallystickError) && isDatabaseAway(error)) {
    return problem(503, "database_unavailable", "The database of this node does not answer now.");
  }
  const log = (cause: unknown) => logWarning({ msg: "A request failed", cause: String(cause) });
  return answerError(error, { statusByCode: STATUS_BY_CODE, headers: comeAgain, log });
}

/** Adds `Retry-After` to statuses that may be temporary. */
function comeAgain(status: number): { [name: string]: string } {
  return status === 503 ? { "retry-after": String(COME_AGAIN) } : {};
}
