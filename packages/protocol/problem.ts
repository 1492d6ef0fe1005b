import { type InputIssue, InvalidInputError, TallystickError } from "./errors.ts";

/** The body of every answer that is not a success (RFC 9457, `application/problem+json`). */
export type Problem = {
  /** Stable identifier to switch on. */
  code: string;
  /** The name of the status. */
  title: string;
  status: number;
  /** One sentence for a person. */
  detail: string;
  /** What to do next. */
  hint?: string;
  /** Every wrong field, by its path in the request. */
  errors?: InputIssue[];
  [more: string]: unknown;
};

export const PROBLEM_MEDIA_TYPE = "application/problem+json";

/** The HTTP status of the answer for each error code. */
export type StatusByCode = { readonly [code: string]: number };

/** Codes with one meaning everywhere. A service adds its own codes, and cannot give these another status. */
export const SHARED_STATUS: StatusByCode = {
  malformed_json: 400,
  unauthorized: 401,
  not_found: 404,
  method_not_allowed: 405,
  payload_too_large: 413,
  json_too_large: 413,
  rate_limited: 429,
};

/** The names of the statuses that are in use, by RFC 9110 and its registry, in Node's spelling. */
const TITLES: { readonly [status: number]: string } = {
  400: "Bad Request",
  401: "Unauthorized",
  402: "Payment Required",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  409: "Conflict",
  413: "Payload Too Large",
  422: "Unprocessable Entity",
  426: "Upgrade Required",
  429: "Too Many Requests",
  500: "Internal Server Error",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};

/** A problem. `more` adds fields and cannot replace the fields that every problem has. */
export function problem(status: number, code: string, detail: string, more: object = {}): Problem {
  const title = TITLES[status] ?? "Error";
  return { ...{ code, title, status, detail }, ...more, ...{ code, title, status, detail } };
}

/**
 * The part of an error that a client may see. Undefined when nothing is meant for a client: then the error
 * belongs in the log, and the answer is {@link internalProblem}.
 *
 * An error is for the client when its code has a status, or when it is an {@link InvalidInputError}, which is 400. Any
 * other error of ours may describe what only this process should know.
 *
 * @param own the service's codes, in addition to the shared ones; a number is the status of this error only
 * @param more additional fields
 */
export function problemOf(
  error: unknown,
  own: StatusByCode | number = {},
  more: object = {},
): Problem | undefined {
  if (!(error instanceof TallystickError)) return undefined;
  const { code, message, hint, field } = error;
  const status = typeof own === "number" ? own : (lookUp(SHARED_STATUS, code) ?? lookUp(own, code));
  const isInput = error instanceof InvalidInputError;
  if (status === undefined && !isInput) return undefined;
  const errors = isInput ? error.issues : field === undefined ? undefined : [{ field, message }];
  return problem(status ?? 400, code, message, {
    ...(hint !== undefined && { hint }),
    ...(errors !== undefined && { errors }),
    ...more,
  });
}

/** The answer to every error that is not for the client. */
export function internalProblem(): Problem {
  return problem(500, "internal", "The request could not be served. The cause is in the server's log.");
}

/** The status of a code. A code may have the name of a property that every object inherits, so only own keys count. */
function lookUp(statusByCode: StatusByCode, code: string): number | undefined {
  return Object.hasOwn(statusByCode, code) ? statusByCode[code] : undefined;
}
