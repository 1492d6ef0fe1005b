import * as z from "zod";
import type { RecordBody } from "../json/recordBody.ts";
import { boundForms } from "./boundForms.ts";
import { entryHashSchema } from "./entryHashSchema.ts";

/**
 * The body of a `review`: the operator's decision on a proposal that was held for high divergence (swarm.at §5.1).
 * `proposal` is the id of the held proposal. A released proposal is settled after its review.
 */
const reviewFields = {
  proposal: entryHashSchema,
  decision: z.enum(["release", "reject"], { error: 'must be "release" or "reject"' }),
  reason: z.string().min(1, "must not be empty").max(2_000, "must have at most 2000 characters"),
};

const read = boundForms(reviewFields);

export type Review = ReturnType<typeof read>;

/**
 * Reads the body of a review.
 *
 * @throws InvalidInputError naming every wrong field, prefixed with `body.`
 */
export function parseReview(body: RecordBody): Review {
  return read(body);
}
