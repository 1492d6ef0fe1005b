import { z } from "zod";
import { invalidInputFromZod } from "../errors.ts";
import type { RecordBody } from "../json/recordBody.ts";
import { entryHashSchema } from "./entryHashSchema.ts";

/**
 * The body of a `review`: the operator's decision on a proposal that was held for high divergence (swarm.at §5.1).
 * `proposal` is the id it was held under. A released one is settled behind its review.
 */
export const reviewSchema = z.looseObject({
  proposal: entryHashSchema,
  decision: z.enum(["release", "reject"], { error: 'must be "release" or "reject"' }),
  reason: z.string().min(1, "must not be empty").max(2_000, "must have at most 2000 characters"),
});

export type Review = z.output<typeof reviewSchema>;

/**
 * Reads the body of a review.
 *
 * @throws InvalidInputError naming every field at fault, prefixed with `body.`
 */
export function parseReview(body: RecordBody): Review {
  const result = reviewSchema.safeParse(body);
  if (!result.success) throw invalidInputFromZod(result.error, "body");
  return result.data;
}
