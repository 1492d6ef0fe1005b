import { STATUS_CODES } from "node:http";
import { type InputIssue, InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import type { Log } from "../log.ts";

/** The body of every answer that is no success (RFC 9457, `application/problem+json`). */
export type Problem = {
  /** Stable identifier to switch on. */
  code: string;
  title: string;
  status: number;
  /** One sentence for a person. */
  detail: string;
  /** What to do next. */
  hint?: string;
  /** Every field at fault, by its path in the request. */
  errors?: InputIssue[];
  /** The entry that stands where this one would have gone. */
  existing?: unknown;
};

/** Codes whose status is not that of their class: 400 for bad input, 500 for the rest. */
const STATUS_BY_CODE: { [code: string]: number } = {
  unauthorized: 401,
  not_found: 404,
  unknown_task: 404,
  method_not_allowed: 405,
  payload_too_large: 413,
  malformed_json: 400,
  conflicting_record: 409,
  consensus_refused: 409,
  rules_refuse: 409,
  unknown_held: 404,
  claim_not_proven: 422,
  rate_limited: 429,
  ledger_unavailable: 503,
  index_unavailable: 503,
  index_differs: 503,
  chain_unknown: 503,
  chain_ahead: 503,
  root_contradicts: 503,
  writer_differs: 503,
  writer_changed: 503,
  guardian_announced: 503,
  ledger_equivocated: 503,
  last_signed_missing: 503,
  last_signed_ahead: 503,
  last_signed_contradicts: 503,
  bad_last_signed: 503,
  checkpoint_pending: 503,
  clock: 503,
  chain_unavailable: 503,
  claims_unavailable: 503,
  x_unavailable: 503,
};

/** What to tell the client about an error. What it was not meant to see is logged and told as `internal`. */
export function problemOf(error: unknown, log: Log): Problem {
  if (error instanceof TallystickError) {
    const status = STATUS_BY_CODE[error.code] ?? (error instanceof InvalidInputError ? 400 : 500);
    if (status < 500 || error.code in STATUS_BY_CODE) {
      return {
        code: error.code,
        title: STATUS_CODES[status] ?? "Error",
        status,
        detail: error.message,
        ...(error.hint !== undefined && { hint: error.hint }),
        ...(error instanceof InvalidInputError
          ? { errors: error.issues }
          : error.field !== undefined && { errors: [{ field: error.field, message: error.message }] }),
        ...(detailOf(error, "existing") !== undefined && { existing: detailOf(error, "existing") }),
      };
    }
  }
  log("A request failed.", { error: error instanceof Error ? (error.stack ?? error.message) : error });
  const detail = "The request could not be served. The cause is in the service's log.";
  return { code: "internal", title: "Internal Server Error", status: 500, detail };
}

/** One of the things an error says besides its message. */
function detailOf({ details }: TallystickError, name: string): unknown {
  return details !== null && typeof details === "object" ? Reflect.get(details, name) : undefined;
}

/** The headers that an error wants its answer to have. */
export function headersOf(error: unknown): { [name: string]: string } {
  const headers = error instanceof TallystickError ? detailOf(error, "headers") : undefined;
  return (headers ?? {}) as { [name: string]: string };
}

/** The answer to a failed request. */
export function problemResponse(problem: Problem, more: { [name: string]: string } = {}): Response {
  const headers: { [name: string]: string } = { "content-type": "application/problem+json", ...more };
  if (problem.status === 401) headers["www-authenticate"] = 'Bearer realm="tallystick"';
  return new Response(JSON.stringify(problem), { status: problem.status, headers });
}
