import { ServiceError } from "./requestService.ts";

/** What the error for an answer in a wrong form says. */
export type UnreadableAnswer = {
  /** The first wrong place, as a path in the answer. Default: all of it. */
  place?: string | undefined;
  /** Names the answer, at the beginning of the message. Default: the service's answer. */
  what?: string | undefined;
  /** What to do next. */
  hint?: string | undefined;
  cause?: unknown;
};

/**
 * The error for an answer with a successful status that the service cannot have written. Something in between may
 * have answered, so it is unknown whether the request was carried out.
 */
export function unreadableAnswer({ place, what, hint, cause }: UnreadableAnswer = {}): ServiceError {
  return new ServiceError({
    code: "unreadable_answer",
    message: `${what ?? "The service's answer"} does not have the expected form. Wrong part: ${place || "all of it"}.`,
    hint:
      hint ??
      "Something in between may have answered. If something was to be done, send the same again: the service knows what it has.",
    status: 0,
    cause,
  });
}
