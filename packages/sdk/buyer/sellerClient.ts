import { ForeignJsonError, readForeignJson } from "tallystick-protocol/json/foreignJson";
import { hostOf } from "tallystick-protocol/net/publicAddress";
import type { Listing } from "tallystick-protocol/records/listing";
import { abortable, startDeadline } from "../deadline.ts";
import { readText } from "../readText.ts";
import type { Fetch } from "../requestService.ts";

/** A complete answer. `body` is its JSON; undefined when it was not read as JSON, and then `refused` says why. */
export type SellerResponse = { status: number; headers: Headers; body: unknown; refused?: ForeignJsonError };

/** The request failed. `late` means that the time ran out. */
export class UnreachableError extends Error {
  readonly late: boolean;

  constructor(message: string, late: boolean, cause?: unknown) {
    super(message, { cause });
    this.late = late;
  }
}

/** The largest answer that is read, in bytes. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

/**
 * Sends requests to one seller's endpoint. Each has a time limit, also when the seller sends slowly.
 *
 * @throws UnreachableError without an answer; the outer signal's reason when that was aborted
 */
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
    const limit = startDeadline(timeoutMs, outerSignal);
    const { signal } = limit;
    try {
      const request = fetch(`${base}${path}`, {
        signal,
        redirect: "error",
        headers: { accept: "application/json", ...post?.headers, ...(post && JSON_TYPE) },
        ...(post && { method: "POST", body: JSON.stringify(post.body) }),
      });
      // A replacement for fetch may ignore signals.
      const response = await abortable(request, signal);
      const text = await readText(response, MAX_ANSWER_BYTES, signal);
      return { status: response.status, headers: response.headers, ...readBody(text) };
    } catch (cause) {
      outerSignal?.throwIfAborted();
      const late = signal.aborted;
      const reason = late ? `no answer within ${Math.ceil(timeoutMs)} ms` : messageOf(cause);
      // A reader takes the message for our own words. So the message names only the host: the seller may have put any
      // text into the path.
      const url = URL.parse(base);
      throw new UnreachableError(`${url === null ? "the seller" : hostOf(url)}: ${reason}`, late, cause);
    } finally {
      limit.end();
    }
  };
}

export type SellerClientRequest = ReturnType<typeof createSellerClient>;

const JSON_TYPE = { "content-type": "application/json" };

function readBody(text: string): Pick<SellerResponse, "body" | "refused"> {
  try {
    return { body: readForeignJson(text) };
  } catch (error) {
    if (error instanceof ForeignJsonError) return { body: undefined, refused: error };
    throw error;
  }
}

function messageOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  return cause.cause instanceof Error ? `${cause.message}: ${cause.cause.message}` : cause.message;
}
