import {
  internalProblem,
  PROBLEM_MEDIA_TYPE,
  type Problem,
  problem,
  problemOf,
  type StatusByCode,
} from "tallystick-protocol/problem";
import { BaseError } from "viem";
import { ChainError } from "../errors.ts";
import { HireRefusedError } from "./sellerErrors.ts";

/** The status codes that the protocol gives for requests that a seller cannot serve. */
const STATUS_BY_CODE: StatusByCode = {
  unsupported_protocol: 400,
  signature_required: 400,
  unknown_capability: 400,
  custom_capability: 400,
  clarification_not_supported: 400,
  private_address: 400,
  budget_token_refused: 403,
};

/** The `Retry-After` of a 503, in seconds. */
const RETRY_AFTER = "5";

/**
 * The answer to a request that failed: `application/problem+json` with a `code` (RFC 9457). Errors that are not
 * meant for the caller are logged, and answered as `internal`.
 */
export function problemResponse(
  error: unknown,
  log: (sentence: string, details?: { [key: string]: unknown }) => void,
): Response {
  const isOfChain = error instanceof ChainError || error instanceof BaseError;
  const told = isOfChain ? chainAway(error) : toldOf(error);
  if (told === undefined || isOfChain) {
    log(isOfChain ? "The chain could not be asked." : "A request failed.", {
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
  }
  const answer = told ?? internalProblem();
  // This is a `Headers` object, because with a plain object early versions of Hono lose headers that are set later.
  const headers = new Headers({ "content-type": PROBLEM_MEDIA_TYPE, "cache-control": "no-store" });
  if (answer.status === 503) headers.set("retry-after", RETRY_AFTER);
  if (error instanceof HireRefusedError && error.secondsToWait !== undefined) {
    headers.set("retry-after", String(error.secondsToWait));
  }
  return new Response(JSON.stringify(answer), { status: answer.status, headers });
}

/**
 * The answer while the chain cannot be asked: the client is not at fault, and the fault is temporary. The error's
 * own text is hidden, because it may contain the RPC's URL with its key.
 */
function chainAway(error: ChainError | BaseError): Problem {
  const code = error instanceof ChainError ? error.code : "chain_unreachable";
  return problem(503, code, "The chain cannot be asked at the moment.", {
    hint: "Send the same request again later.",
  });
}

function toldOf(error: unknown): Problem | undefined {
  // A refusal has a status of its own, and its details are for the client.
  return error instanceof HireRefusedError
    ? problemOf(error, error.status, Object(error.details))
    : problemOf(error, STATUS_BY_CODE);
}
