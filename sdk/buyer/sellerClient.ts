import type { Listing } from "../../protocol/records/listing.ts";
import type { Fetch } from "../requestService.ts";

/** An answer, read whole. `body` is its JSON, undefined when it is none. */
export type SellerResponse = { status: number; headers: Headers; body: unknown };

/** The request did not come through: `late` when the time ran out. */
export class UnreachableError extends Error {
  readonly late: boolean;

  constructor(message: string, late: boolean, cause?: unknown) {
    super(message, { cause });
    this.late = late;
  }
}

/** Largest answer that is read, in bytes. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

/** Sends requests to one seller's endpoint; none takes longer than it was given, however slowly the seller drips. */
export function createSellerClient(
  listing: Pick<Listing, "endpoint">,
  fetch: Fetch,
  outerSignal?: AbortSignal,
) {
  const base = listing.endpoint.replace(/\/$/, "");

  return async (
    path: string,
    timeoutMs: number,
    post?: { body: unknown; headers?: { [name: string]: string } },
  ): Promise<SellerResponse> => {
    const limit = AbortSignal.timeout(Math.max(1, Math.ceil(timeoutMs)));
    const signal = outerSignal ? AbortSignal.any([outerSignal, limit]) : limit;
    try {
      const request = fetch(`${base}${path}`, {
        signal,
        redirect: "error",
        headers: { accept: "application/json", ...post?.headers, ...(post && JSON_TYPE) },
        ...(post && { method: "POST", body: JSON.stringify(post.body) }),
      });
      // A stand-in for fetch may not know signals.
      const response = await Promise.race([request, aborted(signal)]);
      const text = await Promise.race([readText(response), aborted(signal)]);
      return { status: response.status, headers: response.headers, body: parseJson(text) };
    } catch (cause) {
      outerSignal?.throwIfAborted();
      const late = limit.aborted;
      const reason = late ? `no answer within ${Math.ceil(timeoutMs)} ms` : messageOf(cause);
      throw new UnreachableError(`${base}${path}: ${reason}`, late, cause);
    }
  };
}

export type SellerClientRequest = ReturnType<typeof createSellerClient>;

const JSON_TYPE = { "content-type": "application/json" };

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

async function readText(response: Response): Promise<string> {
  if (!response.body) return "";
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (let size = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    size += value.byteLength;
    if (size > MAX_ANSWER_BYTES) {
      await reader.cancel();
      throw new Error(`the answer is larger than ${MAX_ANSWER_BYTES} bytes`);
    }
    text += decoder.decode(value, { stream: true });
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function messageOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  return cause.cause instanceof Error ? `${cause.message}: ${cause.cause.message}` : cause.message;
}
