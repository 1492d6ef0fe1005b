import { z } from "zod";
import { recordedPricesSchema } from "./recordedPrices.ts";

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const dollars = z.string().regex(/^\d{1,30}\.\d{2,12}$/);
const tokenCount = z.int().min(0).max(1e12);
const short = z.string().max(256);

/** One request to a model that may have cost something, as it is in the ledger. */
export const callRecordSchema = z.object({
  /** Unique: an entry that is released later and a closing entry may both report one call. */
  id: short,
  role: z.enum(["classify", "execute", "shadow"]),
  tier: short.nullable(),
  /** The model's name in models.yaml. */
  model: short,
  provider: short,
  model_id: short,
  answered_by: short.nullable(),
  temperature: z.number().nullable(),
  max_output_tokens: tokenCount,
  prompt_sha256: sha256,
  response_sha256: sha256.nullable(),
  tokens: z
    .object({ input: tokenCount, cached_input: tokenCount, output: tokenCount, reasoning: tokenCount })
    .nullable(),
  cost_usd: dollars,
  /**
   * The model's prices when the call was booked. Records of an earlier version do not have them: then the prices are
   * those of the entry.
   */
  prices: recordedPricesSchema.optional(),
  /** `reserved`: the vendor did not report tokens, so the highest possible cost is booked. */
  cost_from: z.enum(["tokens", "reserved"]),
  /** Unix seconds. */
  started_at: z.number(),
  latency_ms: tokenCount,
  /** `answered`, or why there was no usable answer. */
  ended: short,
  /**
   * How many requests with the same question failed before this one, because the vendor was busy or the connection
   * broke.
   */
  retries: z.int().min(0).max(1_000),
});

export type CallRecord = z.output<typeof callRecordSchema>;
