import {
  internalProblem,
  PROBLEM_MEDIA_TYPE,
  type Problem,
  problemOf,
  type StatusByCode,
} from "tallystick-protocol/problem";
import { HireRefusedError } from "./sellerErrors.ts";

/** What the protocol says of requests that a seller cannot serve as they are. */
const STATUS_BY_CODE: StatusByCode = {
  unsupported_protocol: 400,
  signature_required: 400,
  unknown_capability: 400,
  custom_capability: 400,
  clarification_not_supported: 400,
  private_address: 400,
  budget_token_refused: 403,
};

/**
 * The answer to a request that failed: `application/problem+json` with a `code` (RFC 9457). What the caller was not
 * meant to see is logged and told as `internal`.
 */
export function problemResponse(
  error: unknown,
  log: (sentence: string, details?: { [key: string]: unknown }) => void,
): Response {
  const told = toldOf(error);
  if (told === undefined) {
    log("A request failed.", {
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
  }
  const problem = told ?? internalProblem();
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    // A Headers, because early servers of Hono lose what is set on it later when it is made from an object.
    headers: new Headers({ "content-type": PROBLEM_MEDIA_TYPE, "cache-control": "no-store" }),
  });
}

function toldOf(error: unknown): Problem | undefined {
  // A refusal has a status of its own, and its details are for whoever is refused.
  return error instanceof HireRefusedError
    ? problemOf(error, error.status, Object(error.details))
    : problemOf(error, STATUS_BY_CODE);
}
