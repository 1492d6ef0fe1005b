import { HTTPException } from "hono/http-exception";
import { TallystickError } from "tallystick-protocol/errors";
import {
  internalProblem,
  PROBLEM_MEDIA_TYPE,
  type Problem,
  problem,
  problemOf,
  type StatusByCode,
} from "tallystick-protocol/problem";

/** An answer with a problem as its body. `more` are additional headers. */
export function problemAnswer(told: Problem, more: { [name: string]: string } = {}): Response {
  const headers = new Headers({ "content-type": PROBLEM_MEDIA_TYPE, ...more });
  if (told.status === 401) headers.set("www-authenticate", 'Bearer realm="tallystick"');
  return new Response(JSON.stringify(told), { status: told.status, headers });
}

/**
 * A service's answer to a failed request. Two of the error's `details` are sent: `headers` become headers of the
 * answer, and `existing` becomes a member of the answer's body.
 *
 * @param parameters.statusByCode the codes of this service
 * @param parameters.headers headers for every answer with a status
 * @param parameters.log gets the cause of errors that are hidden from the client
 */
export function answerError(
  error: unknown,
  {
    statusByCode,
    headers = () => ({}),
    log,
  }: {
    statusByCode: StatusByCode;
    headers?: (status: number) => { [name: string]: string };
    log: (cause: unknown) => void;
  },
): Response {
  const existing = detailOf(error, "existing");
  const known =
    problemOf(error, statusByCode, existing === undefined ? {} : { existing }) ?? problemOfHono(error);
  if (known !== undefined) {
    return problemAnswer(known, { ...headers(known.status), ...Object(detailOf(error, "headers")) });
  }
  log(error instanceof Error ? (error.stack ?? error.message) : error);
  return problemAnswer(internalProblem());
}

/** Converts Hono's own errors, which it throws before a route is reached. */
function problemOfHono(error: unknown): Problem | undefined {
  if (!(error instanceof HTTPException) || error.status < 400 || error.status >= 500) return undefined;
  const code = error.status === 413 ? "payload_too_large" : "malformed_json";
  return problem(error.status, code, error.message);
}

function detailOf(error: unknown, name: string): unknown {
  if (!(error instanceof TallystickError)) return undefined;
  const { details } = error;
  return details !== null && typeof details === "object" ? Reflect.get(details, name) : undefined;
}
