import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { HireRefusedError } from "./sellerErrors.ts";

/** Codes of bad requests whose status is not 400. */
const STATUS_BY_CODE: { [code: string]: number } = {
  budget_token_refused: 403,
  payload_too_large: 413,
  json_too_large: 413,
};

/**
 * The answer to a request that failed: `application/problem+json` with a `code` (RFC 9457). What the caller was not
 * meant to see is logged and told as `internal`.
 */
export function problemResponse(
  error: unknown,
  log: (sentence: string, details?: { [key: string]: unknown }) => void,
): Response {
  const status = statusOf(error);
  if (status === undefined || !(error instanceof TallystickError)) {
    log("A request failed.", {
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
    return json(500, { code: "internal", status: 500, detail: "The request could not be served." });
  }
  return json(status, {
    code: error.code,
    status,
    detail: error.message,
    ...(error.hint !== undefined && { hint: error.hint }),
    ...(error instanceof InvalidInputError
      ? { errors: error.issues }
      : error.field !== undefined && { errors: [{ field: error.field, message: error.message }] }),
    ...(error.details !== undefined && (error.details as object)),
  });
}

function statusOf(error: unknown): number | undefined {
  if (error instanceof HireRefusedError) return error.status;
  if (!(error instanceof TallystickError)) return undefined;
  return STATUS_BY_CODE[error.code] ?? 400;
}

function json(status: number, body: object): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/problem+json", "cache-control": "no-store" },
  });
}
