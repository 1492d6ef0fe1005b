import { STATUS_CODES } from "node:http";
import { HTTPException } from "hono/http-exception";
import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { isDatabaseAway } from "../../databaseWatch.ts";
import { logWarning } from "../../ponderProcess.ts";

/** Seconds after which to come again to what cannot be served now. */
export const COME_AGAIN = 5;

/**
 * An error answer as settlement gives them too: RFC 9457, `application/problem+json`, with a `code` for programs and one
 * sentence for people.
 */
export function problem(status: number, code: string, detail: string, more: object = {}): Response {
  const body = JSON.stringify({ code, title: STATUS_CODES[status] ?? "Error", status, detail, ...more });
  const headers = new Headers({ "content-type": "application/problem+json" });
  // What is missing now may be there soon.
  if (status === 503) headers.set("retry-after", String(COME_AGAIN));
  return new Response(body, { status, headers });
}

/** Codes whose status is not that of their class: 400 for bad input, 500 for the rest. */
const STATUS_BY_CODE: { [code: string]: number } = {
  unknown_agent: 404,
  private_metrics: 403,
  payload_too_large: 413,
  not_ready: 503,
};

/** What to tell a client about an error. What it was not meant to see goes to the log, and it is told `internal`. */
export function problemResponse(error: unknown): Response {
  if (error instanceof InvalidInputError) {
    return problem(400, error.code, error.message, { errors: error.issues });
  }
  if (error instanceof TallystickError) {
    const status = STATUS_BY_CODE[error.code];
    if (status !== undefined) {
      return problem(status, error.code, error.message, error.hint === undefined ? {} : { hint: error.hint });
    }
  }
  // Hono's own, for bodies that are no JSON.
  if (error instanceof HTTPException && error.status < 500) {
    return problem(error.status, "malformed_json", error.message);
  }
  if (isDatabaseAway(error)) {
    return problem(503, "database_unavailable", "The database of this node does not answer now.");
  }
  logWarning({
    msg: "A request failed",
    cause: error instanceof Error ? (error.stack ?? error.message) : String(error),
  });
  return problem(500, "internal", "The request could not be served. The cause is in the log.");
}
