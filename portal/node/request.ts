import { isBounded } from "./isBounded.ts";
import { NodeError } from "./nodeError.ts";
import { nodeUrl } from "./nodeUrl.ts";
import { readText } from "./readBytes.ts";

/** The time limit of a request. */
const PATIENCE_MS = 15_000;

/** The most bytes of an answer. Nodes themselves stop at four million bytes. */
const MAX_BYTES = 8_000_000;

/**
 * Sends a request to the node only. Redirects are errors, and no cookies or referrer are sent.
 *
 * @param path with a slash first
 * @throws NodeError; the reason of `signal` when `signal` is aborted
 */
export async function request(
  path: string,
  { body, signal }: { body?: object | undefined; signal?: AbortSignal | undefined } = {},
): Promise<{ json: unknown; headers: Headers; status: number }> {
  const limit = AbortSignal.timeout(PATIENCE_MS);
  let response: Response;
  let text: string | undefined;
  try {
    response = await fetch(`${nodeUrl}${path}`, {
      ...(body && {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
      signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
      credentials: "omit",
      redirect: "error",
      referrerPolicy: "no-referrer",
    });
    text = await readText(response, MAX_BYTES);
  } catch (cause) {
    signal?.throwIfAborted();
    throw unreachable(limit.aborted, cause);
  }
  const json = text === undefined ? undefined : tryJson(text);
  if (json === undefined || json === null || typeof json !== "object") throw notJson(response.status);
  if (!isBounded(json)) throw tooMuch();
  if (!response.ok && !("errors" in json && "data" in json)) throw refusedBy(json, response);
  return { json, headers: response.headers, status: response.status };
}

/** Seconds to wait before the next attempt, from 1 to 120; null when the node names none. */
export function retryAfterOf(headers: Headers): number | null {
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 1), 120) : null;
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function unreachable(isLate: boolean, cause: unknown): NodeError {
  return new NodeError({
    code: "unreachable",
    message: isLate
      ? `The node does not answer within ${PATIENCE_MS / 1_000} seconds.`
      : "The node does not answer.",
    hint: `Is ${nodeUrl} the address of a node, and are you online?${cause instanceof Error ? ` (${cause.message})` : ""}`,
  });
}

function notJson(status: number): NodeError {
  return new NodeError({
    code: "bad_answer",
    message: `The node answers with status ${status} and something that is not JSON.`,
    hint: `Something other than a node may answer at ${nodeUrl}.`,
  });
}

function tooMuch(): NodeError {
  return new NodeError({
    code: "bad_answer",
    message: "The node's answer has longer lists, or more levels, than a page can show.",
    hint: `Something other than a node may answer at ${nodeUrl}.`,
  });
}

/** Makes an error from a problem (RFC 9457) or from a GraphQL answer. */
function refusedBy(json: object, response: Response): NodeError {
  const { code, detail, hint, errors } = json as { [name: string]: unknown };
  const [first] = Array.isArray(errors) ? errors : [];
  const text = (value: unknown): string | undefined =>
    typeof value === "string" && value !== "" ? value : undefined;
  return new NodeError({
    code: text(code) ?? text(first?.extensions?.code) ?? `http_${response.status}`,
    message: text(detail) ?? text(first?.message) ?? `The node answers with status ${response.status}.`,
    hint: text(hint) ?? "",
    retryAfter: retryAfterOf(response.headers),
  });
}
