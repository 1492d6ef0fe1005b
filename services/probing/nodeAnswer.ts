import { ServiceError } from "tallystick-sdk/requestService";
import type { z } from "zod";

/**
 * Reads an answer of the node.
 *
 * @param what the name of the list, for the message
 * @throws ServiceError `unreadable_answer` when the answer does not have the form
 */
export function nodeAnswer<Form extends z.ZodType>(
  form: Form,
  answer: unknown,
  what: string,
): z.output<Form> {
  const read = form.safeParse(answer);
  if (read.success) return read.data;
  const place = read.error.issues[0]?.path.join(".") || "all of it";
  throw new ServiceError({
    code: "unreadable_answer",
    message: `The node's list of ${what} does not have the expected form. Wrong is: ${place}.`,
    hint: "Check TALLYSTICK_URL. Something between this process and the node may have answered.",
    status: 0,
    cause: read.error,
  });
}
