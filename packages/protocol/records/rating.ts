import * as z from "zod";
import type { RecordBody } from "../json/recordBody.ts";
import { boundForms } from "./boundForms.ts";
import { entryHashSchema } from "./entryHashSchema.ts";

/**
 * The side that rates: the buyer rates the seller, or the seller rates the buyer. Each side has one rating
 * for each receipt (SHP §9.1).
 */
export const ratingSideSchema = z.enum(["buyer", "seller"], { error: 'must be "buyer" or "seller"' });

export type RatingSide = z.infer<typeof ratingSideSchema>;

/**
 * The body of a `rating`: stars for a hire by one of its sides (SHP §9.1). `receipt` is the entry hash of the
 * receipt, and the receipt decides who may sign. `parseRating` does not check this: its caller has to.
 */
const ratingFields = {
  receipt: entryHashSchema,
  side: ratingSideSchema,
  stars: z.int().min(1, "must be 1 to 5").max(5, "must be 1 to 5"),
  latency_ms: z.int().min(0).optional(),
  comment_hash: z.string().max(128).optional(),
};

const read = boundForms(ratingFields);

export type Rating = ReturnType<typeof read>;

/**
 * Reads the body of a rating.
 *
 * @throws InvalidInputError naming every wrong field, prefixed with `body.`
 */
export function parseRating(body: RecordBody): Rating {
  return read(body);
}
