import type { z } from "zod";
import { type UnreadableAnswer, unreadableAnswer } from "./unreadableAnswer.ts";

/**
 * Reads what a node or a settlement service answered. Every answer of another machine that decides about a payment, a
 * signature or a next request goes through this function. It does not import zod itself, so a bundle without forms stays
 * without zod.
 *
 * @param form a form of zod. Its texts and lists have limits
 * @param answer the JSON of the answer; undefined if the text is no JSON
 * @param how names the answer in the message, and says which setting to check
 * @throws ServiceError `unreadable_answer` that names the first wrong place
 */
export function readServiceAnswer<Form extends z.ZodType>(
  form: Form,
  answer: unknown,
  how: Pick<UnreadableAnswer, "what" | "hint"> = {},
): z.output<Form> {
  const read = form.safeParse(answer);
  if (read.success) return read.data;
  const { error } = read;
  const path = error.issues[0]?.path ?? [];
  throw unreadableAnswer({ ...how, place: path.map(plainPart).join("."), cause: error });
}

/** A part of a path. It may be a name that the other machine chose, and the message must have no text of it. */
function plainPart(part: PropertyKey): string {
  const text = String(part);
  return /^\w{1,64}$/.test(text) ? text : "…";
}
