import { TallystickError } from "tallystick-protocol/errors";
import { createPublicFetch, type PublicFetchParameters } from "tallystick-sdk/net/publicFetch";
import { readBytes } from "tallystick-sdk/readBytes";

/** The time limit for a receiver's answer, in milliseconds, and the most bytes of it that are read. */
const ANSWER_MS = 10_000;
const MAX_ANSWER_BYTES = 4_096;

/** Sends one text to a receiver, and returns its answer. The answer's text is empty unless `isRead` is set. */
export type Post = (
  message: { url: string; text: string; id: string; isRead?: boolean },
  signal: AbortSignal,
) => Promise<{ status: number; text: string }>;

/**
 * Reaches receivers, which are servers of strangers. Only public servers are reached, and only by https, unless
 * `policy` allows more. A redirect is an error. If an answer is read and has more than {@link MAX_ANSWER_BYTES}, it is an
 * error too.
 *
 * @param answerMs how long an answer may take; 10 s unless given
 */
export function createPost(
  reach: Pick<PublicFetchParameters, "policy" | "resolve"> = {},
  answerMs = ANSWER_MS,
): Post {
  const fetch = createPublicFetch({ ...reach, timeoutMs: answerMs });
  return async ({ url, text, id, isRead = false }, outer) => {
    const signal = AbortSignal.any([outer, AbortSignal.timeout(answerMs)]);
    const response = await fetch(url, {
      method: "POST",
      body: text,
      headers: {
        "content-type": "application/json",
        "idempotency-key": id,
        "user-agent": "tallystick-notifier/1.0",
      },
      signal,
    });
    const { status } = response;
    if (!isRead) {
      await response.body?.cancel().catch(() => {});
      return { status, text: "" };
    }
    return { status, text: new TextDecoder().decode(await readBytes(response, MAX_ANSWER_BYTES, signal)) };
  };
}

/** Why a receiver could not be reached, as a code or a short message for the log. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (cause instanceof TallystickError) return cause.code;
  return cause instanceof Error ? cause.message : String(cause);
}
