import { readBytes } from "tallystick-runtime/http/readBytes";
import { OrphanedBlockError, SourceRefusedError } from "../errors.ts";
import type { RequestOutcome } from "../logPort.ts";
import { retryAfter } from "../retries.ts";
import { shown } from "../tokenLogs.ts";

/** The most bytes that are read of an error page. */
const MAX_ERROR_BYTES = 64 << 10;

/** The body of a stream request (portal API, `/finalized-stream`). */
export type StreamQuery = {
  type: "evm";
  fromBlock: number;
  toBlock: number;
  /** The hash of the last block that was read. The portal answers 409 if its block has another hash. */
  parentBlockHash?: string;
  fields: object;
  logs: object[];
};

export type StreamAnswer =
  | { kind: "stream"; body: AsyncIterable<Uint8Array> }
  /** No block of the range is final at the portal yet. */
  | { kind: "nothing" }
  /** Another attempt may succeed. */
  | {
      kind: "failed";
      outcome: RequestOutcome;
      message: string;
      /** The status of HTTP, if an answer came. */
      status?: number;
      waitMs?: number;
      cause?: unknown;
    };

export type PortalEndpoint = {
  /** The dataset: `https://portal.sqd.dev/datasets/base-mainnet`. */
  url: string;
  source: string;
  apiKey: string | undefined;
  fetch: typeof fetch;
};

/** Sends a request to a portal. The signal of the attempt also ends the stream. */
export async function askPortal(
  { url, apiKey, fetch }: PortalEndpoint,
  path: string,
  query: StreamQuery | null,
  signal: AbortSignal,
): Promise<Response> {
  const headers: { [name: string]: string } = { accept: "application/jsonl, application/json" };
  if (apiKey !== undefined) headers.authorization = `Bearer ${apiKey}`;
  if (query !== null) headers["content-type"] = "application/json";
  const body = query === null ? null : JSON.stringify(query);
  return fetch(`${url.replace(/\/+$/, "")}/${path}`, {
    method: query === null ? "GET" : "POST",
    headers,
    body,
    signal,
    redirect: "error",
  });
}

/**
 * Opens a stream of final blocks. Statuses as the portal's `04-errors` documents them (subsquid/sqd-portal):
 * 204 has no blocks yet, 400 is our fault, 409 is another chain, 429 and 529 are too many requests, and the
 * others are temporary failures.
 *
 * @throws SourceRefusedError, OrphanedBlockError
 */
export async function openStream(
  endpoint: PortalEndpoint,
  query: StreamQuery,
  signal: AbortSignal,
): Promise<StreamAnswer> {
  let response: Response;
  try {
    response = await askPortal(endpoint, "finalized-stream", query, signal);
  } catch (cause) {
    return { kind: "failed", outcome: "failed", message: "the connection failed", cause };
  }
  if (response.status === 200 && response.body !== null) return { kind: "stream", body: response.body };
  if (response.status === 204) {
    await response.body?.cancel();
    return { kind: "nothing" };
  }
  return refused(endpoint, response, query);
}

/** Converts any other status to an error or a failure. */
export async function refused(
  { source }: PortalEndpoint,
  response: Response,
  query: StreamQuery | null,
): Promise<StreamAnswer & { kind: "failed" }> {
  const { status } = response;
  const text = (await readBytes(response, MAX_ERROR_BYTES).catch(() => undefined))?.toString() ?? "";
  if (status === 409 && query?.parentBlockHash !== undefined) {
    throw new OrphanedBlockError(source, query.fromBlock - 1, query.parentBlockHash as `0x${string}`);
  }
  const isPassing = status === 408 || status === 429 || status === 200 || status >= 500;
  if (!isPassing) throw new SourceRefusedError(source, `it answered ${status}: ${shown(text)}`, { status });
  const wait = retryAfter(response.headers);
  const outcome = status === 429 || status === 529 ? "limited" : "failed";
  const failed = { kind: "failed", outcome, message: `it answered ${status}`, status } as const;
  return wait === undefined ? failed : { ...failed, waitMs: wait };
}
