import { readBytes } from "tallystick-runtime/http/readBytes";
import { type AnsweredWith, SourceRefusedError, SourceUnavailableError } from "../errors.ts";
import type { RequestOutcome, SourceRequest } from "../logPort.ts";
import { attemptsOf, type Retries, retryAfter } from "../retries.ts";
import { slots } from "../slots.ts";
import { type RpcFault, refusalOf } from "./refusals.ts";

export type RpcCall = { method: string; params: unknown[] };

/** A node's reply to one call. */
export type RpcReply = { result: unknown; fault?: undefined } | { result?: undefined; fault: RpcFault };

export type JsonRpcOptions = Retries & {
  url: string;
  /** The source's name in errors. */
  source: string;
  /** The most HTTP requests at the same time. Default 4. */
  concurrency?: number;
  /** Milliseconds for one attempt. Default 30,000. */
  timeoutMs?: number;
  /** The longest answer that is read, in bytes. Default 64 MiB. */
  maxBytes?: number;
  onRequest?: (request: SourceRequest) => void;
  fetch?: typeof fetch;
};

export type JsonRpc = {
  /**
   * Sends calls in one request. One node answers it, unless a proxy splits it. Retries if no complete answer
   * comes, or if the server reports too many requests. Other errors are returned.
   *
   * @throws SourceUnavailableError, BatchRefusedError, SourceRefusedError (401, 403, 404)
   */
  send<Calls extends readonly RpcCall[]>(
    calls: Calls,
    signal: AbortSignal,
  ): Promise<{ [n in keyof Calls]: RpcReply }>;
  /** Counts an answer that was complete but useless. */
  count(method: string, outcome: RequestOutcome): void;
};

/** The provider accepts fewer calls in one request. */
export class BatchRefusedError extends SourceRefusedError {
  readonly calls: number;
  constructor(source: string, calls: number, { code, message }: RpcFault) {
    super(source, `it refuses ${calls} calls in one batch: ${message}`, { error: code });
    this.calls = calls;
  }
}

/** JSON-RPC's codes for an invalid request. A server that knows no batches answers with one of them. */
const INVALID_REQUEST: ReadonlySet<number> = new Set([-32600, -32700]);

/** A failed attempt that may succeed the next time. */
class Failed extends Error {
  readonly outcome: RequestOutcome;
  readonly answered: AnsweredWith;
  readonly waitMs: number | undefined;
  constructor(
    outcome: RequestOutcome,
    message: string,
    {
      answered,
      waitMs,
      cause,
    }: { answered?: AnsweredWith; waitMs?: number | undefined; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.outcome = outcome;
    this.answered = answered;
    this.waitMs = waitMs;
  }
}

/** Opens a JSON-RPC endpoint over HTTP. */
export function openJsonRpc(options: JsonRpcOptions): JsonRpc {
  const { source, concurrency = 4, timeoutMs = 30_000, maxBytes = 64 << 20 } = options;
  const slot = slots(concurrency);
  const count = (method: string, outcome: RequestOutcome) => options.onRequest?.({ source, method, outcome });

  async function attempt(calls: readonly RpcCall[], signal: AbortSignal): Promise<RpcReply[]> {
    const limit = AbortSignal.timeout(timeoutMs);
    const messages = calls.map((call, id) => ({ jsonrpc: "2.0", id, ...call }));
    let response: Response;
    let bytes: Buffer | undefined;
    try {
      response = await (options.fetch ?? fetch)(options.url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(messages.length === 1 ? messages[0] : messages),
        signal: AbortSignal.any([signal, limit]),
        redirect: "error",
      });
      bytes = await readBytes(response, maxBytes);
    } catch (error) {
      signal.throwIfAborted();
      const message = limit.aborted ? `no whole answer within ${timeoutMs} ms` : "the connection failed";
      throw new Failed("failed", message, { cause: error });
    }
    if (bytes === undefined) return sameFault(calls, -32005, `response larger than ${maxBytes} bytes`);
    return repliesOf(calls, response, bytes.toString());
  }

  function repliesOf(calls: readonly RpcCall[], response: Response, text: string): RpcReply[] {
    const { status, headers } = response;
    const answered = { status };
    const waitMs = retryAfter(headers);
    if (status === 429) throw new Failed("limited", "429, too many requests", { answered, waitMs });
    if ([401, 403, 404].includes(status))
      throw new SourceRefusedError(source, `it answered ${status}`, answered);
    const body = parsed(text);
    if (status >= 500 || status === 408)
      throw new Failed("failed", `it answered ${status}`, { answered, waitMs });
    if (body === undefined && status === 413)
      return sameFault(calls, status, "response or request too large");
    if (body === undefined) throw new Failed("failed", `it answered ${status}, but not with complete JSON`);
    const replies = inOrder(calls, body);
    if (replies === undefined) throw new Failed("failed", `it answered ${status}, but not with JSON-RPC`);
    const batched =
      calls.length > 1 ? replies.find(({ fault }) => fault && isAboutBatch(fault, body)) : undefined;
    if (batched?.fault) throw new BatchRefusedError(source, calls.length, batched.fault);
    const limited = replies.find(({ fault }) => fault !== undefined && refusalOf(fault) === "rate");
    if (limited?.fault) {
      const { code, message } = limited.fault;
      throw new Failed("limited", message, { answered: { error: code }, waitMs });
    }
    return replies;
  }

  return {
    count,
    async send(calls, signal) {
      const method = calls[0]?.method ?? "";
      const attempts = attemptsOf(options);
      for (;;) {
        try {
          const replies = await slot(() => attempt(calls, signal));
          if (replies.every(({ fault }) => fault === undefined)) count(method, "ok");
          else count(method, "refused");
          return replies as { [n in keyof typeof calls]: RpcReply };
        } catch (error) {
          if (!(error instanceof Failed)) throw error;
          count(method, error.outcome);
          if (await attempts.again(signal, error.waitMs)) continue;
          const message = `${method}: ${error.message.slice(0, 200)}`;
          throw new SourceUnavailableError(source, message, error.cause, error.answered);
        }
      }
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Finds the reply to each call by its id; undefined if one is missing. A single error in place of a batch
 * applies to all calls.
 */
function inOrder(calls: readonly RpcCall[], body: unknown): RpcReply[] | undefined {
  const single = replyOf(body);
  if (!Array.isArray(body)) {
    if (single?.fault) return calls.map(() => single);
    return single !== undefined && calls.length === 1 && idOf(body) === 0 ? [single] : undefined;
  }
  const byId = new Map(body.map((item) => [idOf(item), replyOf(item)]));
  const replies = calls.map((_, id) => byId.get(id));
  return body.length === calls.length && replies.every((it) => it !== undefined) ? replies : undefined;
}

/** Whether a fault refuses the batch, and not one of its calls. */
function isAboutBatch(fault: RpcFault, body: unknown): boolean {
  if (/batch/i.test(fault.message)) return true;
  return !Array.isArray(body) && INVALID_REQUEST.has(fault.code) && refusalOf(fault) === "other";
}

function replyOf(value: unknown): RpcReply | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { result, error } = value as { result?: unknown; error?: { code?: unknown; message?: unknown } };
  if (error !== undefined && error !== null) {
    const { code, message } = error;
    return { fault: { code: Number(code), message: String(message ?? "no message").slice(0, 500) } };
  }
  return result === undefined ? undefined : { result };
}

const idOf = (value: unknown): unknown => (value as { id?: unknown } | null)?.id;

const sameFault = (calls: readonly RpcCall[], code: number, message: string): RpcReply[] =>
  calls.map(() => ({ fault: { code, message } }));
