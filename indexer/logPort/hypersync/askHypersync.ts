import { readBytes } from "tallystick-runtime/http/readBytes";
import { type AnsweredWith, BadAnswerError, SourceRefusedError, SourceUnavailableError } from "../errors.ts";
import type { RequestOutcome } from "../logPort.ts";
import { attemptsOf, type Retries, retryAfter } from "../retries.ts";
import { shown } from "../tokenLogs.ts";

export type HypersyncEndpoint = {
  /** A chain's server: `https://base.hypersync.xyz`. */
  url: string;
  source: string;
  apiToken: string | undefined;
  retries: Retries;
  /** The longest answer that is read, in bytes. */
  mostAnswerBytes: number;
  /** Milliseconds for one request with its answer. */
  timeoutMs: number;
  count: (method: string, outcome: RequestOutcome) => void;
  fetch: typeof fetch;
};

/** The body of `POST /query` (HyperSync's JSON API). `to_block` is exclusive. */
export type HypersyncQuery = {
  from_block: number;
  to_block: number;
  include_all_blocks?: boolean;
  /** The answer ends with the block in which it has about so many logs. */
  max_num_logs?: number;
  logs?: { address: string[]; topics: string[][] }[];
  field_selection: { block: string[]; log?: string[] };
};

type Failed = { outcome: RequestOutcome; error: Error; waitMs: number | undefined };

/**
 * Asks a HyperSync server. Repeats the request after temporary errors.
 *
 * @param query null: asks `GET /height`
 * @returns the answer's JSON
 * @throws SourceUnavailableError, SourceRefusedError, BadAnswerError when it is not JSON or too long
 */
export async function askHypersync(
  endpoint: HypersyncEndpoint,
  query: HypersyncQuery | null,
  signal: AbortSignal,
): Promise<unknown> {
  const attempts = attemptsOf(endpoint.retries);
  const method = query === null ? "height" : "query";
  for (;;) {
    const attempt = AbortSignal.any([signal, AbortSignal.timeout(endpoint.timeoutMs)]);
    const answer = await askOnce(endpoint, query, attempt);
    signal.throwIfAborted();
    endpoint.count(method, "error" in answer ? answer.outcome : "ok");
    if (!("error" in answer)) return answer.json;
    if (!(await attempts.again(signal, answer.waitMs))) throw answer.error;
  }
}

async function askOnce(
  { url, source, apiToken, mostAnswerBytes, fetch }: HypersyncEndpoint,
  query: HypersyncQuery | null,
  signal: AbortSignal,
): Promise<{ json: unknown } | Failed> {
  const headers: { [name: string]: string } = { accept: "application/json" };
  if (apiToken !== undefined) headers.authorization = `Bearer ${apiToken}`;
  if (query !== null) headers["content-type"] = "application/json";
  const failed = (message: string, cause?: unknown, answered?: AnsweredWith): Failed => ({
    outcome: "failed",
    error: new SourceUnavailableError(source, message, cause, answered),
    waitMs: undefined,
  });
  let status: number;
  let bytes: Buffer | undefined;
  let waitMs: number | undefined;
  try {
    const response = await fetch(`${url.replace(/\/+$/, "")}/${query === null ? "height" : "query"}`, {
      method: query === null ? "GET" : "POST",
      headers,
      body: query === null ? null : JSON.stringify(query),
      signal,
      redirect: "error",
    });
    status = response.status;
    waitMs = retryAfter(response.headers);
    bytes = await readBytes(response, mostAnswerBytes);
  } catch (cause) {
    return failed("the connection failed", cause);
  }
  if (bytes === undefined)
    throw new BadAnswerError(source, "answer", `must be of ${mostAnswerBytes} bytes at most`);
  if (status === 200) {
    try {
      return { json: JSON.parse(bytes.toString()) };
    } catch (cause) {
      // A proxy may cut an answer and still end it as if it were whole.
      return failed("its answer is not JSON", cause);
    }
  }
  if (status !== 408 && status !== 429 && status < 500)
    throw new SourceRefusedError(source, `it answered ${status}: ${shown(bytes.toString())}`, { status });
  return {
    ...failed(`it answered ${status}`, undefined, { status }),
    outcome: status === 429 ? "limited" : "failed",
    waitMs,
  };
}
