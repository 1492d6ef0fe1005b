import { TallystickError } from "tallystick-protocol/errors";
import { tryForeignJson } from "tallystick-protocol/json/foreignJson";
import { jsonText } from "tallystick-protocol/json/jsonText";
import { abortable, startDeadline } from "./deadline.ts";
import { readText } from "./readText.ts";

/** The platform's `fetch`, or a replacement. */
export type Fetch = (input: string, init?: RequestInit) => Promise<Response>;

/**
 * The service refused, or could not be reached. In the second case `status` is 0, and it is unknown whether
 * the request was carried out.
 */
export class ServiceError extends TallystickError {
  readonly status: number;

  /** The hash of the ledger's entry that conflicts with the record (`conflicting_record`). */
  readonly existing?: string;

  constructor(parameters: {
    code: string;
    message: string;
    status: number;
    hint?: string;
    existing?: string | undefined;
    cause?: unknown;
  }) {
    super(parameters);
    this.status = parameters.status;
    if (parameters.existing !== undefined) this.existing = parameters.existing;
  }

  /**
   * Whether the service understood the request and said no, so that sending it again cannot help. Then its answer has
   * a code. The answer of a proxy that blocks requests for a while has no code.
   */
  get isRefusal(): boolean {
    const isRefused = this.status >= 400 && this.status < 500 && ![404, 408, 429].includes(this.status);
    return isRefused && this.code !== "http_error";
  }

  /** Whether the request may have been carried out although it failed. */
  get isUncertain(): boolean {
    if (this.code === "outcome_unknown") return true;
    return this.status === 0 || this.status === 502 || this.status === 504;
  }
}

export type ServiceRequest = {
  baseUrl: string;
  /** The path and its query. */
  path: string;
  apiKey?: string | undefined;
  /** Sent as JSON by POST; without it, GET. */
  body?: unknown;
  fetch?: Fetch | undefined;
  /** Ends the wait. */
  signal?: AbortSignal | undefined;
  /** How long the answer may take, to its last byte, in milliseconds. Default 30,000. */
  timeoutMs?: number | undefined;
};

/** The largest answer of a service that is read, in bytes. */
export const MAX_SERVICE_BYTES = 32 * 1024 * 1024;

/** How long a service may take to answer, in milliseconds. */
export const SERVICE_MS = 30_000;

/**
 * Sends one request and returns the text of its answer.
 *
 * @throws ServiceError with the problem's `code` when the answer is not a success; the signal's reason; InvalidInputError
 * naming every number of the body that JSON cannot write
 */
export async function requestService(request: ServiceRequest): Promise<{ text: string; headers: Headers }> {
  const { baseUrl, path, apiKey, body, fetch = globalThis.fetch, timeoutMs = SERVICE_MS } = request;
  const headers: { [name: string]: string } = { accept: "application/json" };
  if (apiKey !== undefined) headers.authorization = `Bearer ${apiKey}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  const post = body === undefined ? {} : { method: "POST", body: jsonText(body) };
  const limit = startDeadline(timeoutMs, request.signal);
  const { signal } = limit;
  let response: Response;
  let text: string;
  try {
    response = await abortable(
      fetch(`${baseUrl.replace(/\/$/, "")}${path}`, { headers, signal, ...post }),
      signal,
    );
    text = await readText(response, MAX_SERVICE_BYTES, signal);
  } catch (cause) {
    request.signal?.throwIfAborted();
    const message = `${baseUrl} could not be reached: ${cause instanceof Error ? cause.message : String(cause)}`;
    throw new ServiceError({ code: "unreachable", message, status: 0, cause });
  } finally {
    limit.end();
  }
  if (response.ok) return { text, headers: response.headers };
  const { code, detail, hint, existing }: { [field: string]: unknown } = Object(tryForeignJson(text));
  throw new ServiceError({
    code: typeof code === "string" ? code : "http_error",
    message: typeof detail === "string" ? detail : `${path} answered ${response.status}`,
    status: response.status,
    ...(typeof hint === "string" && { hint }),
    existing: hashIn(existing),
  });
}

function hashIn(entry: unknown): string | undefined {
  const { hash } = Object(entry);
  return typeof hash === "string" && /^[0-9a-f]{64}$/.test(hash) ? hash : undefined;
}
