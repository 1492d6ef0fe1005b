import { ServiceError } from "./requestService.ts";

/**
 * The error for an answer with a successful status that the service cannot have written. Something in between may
 * have answered, so it is unknown whether the request was carried out.
 */
export function unreadableAnswer(cause?: unknown): ServiceError {
  return new ServiceError({
    code: "unreadable_answer",
    message:
      "The answer does not come from the service, so nobody knows whether the service did what was asked.",
    hint: "Something in between may have answered. Send the same again: the service knows what it has.",
    status: 0,
    cause,
  });
}
