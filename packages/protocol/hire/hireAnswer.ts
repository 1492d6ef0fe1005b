import * as z from "zod";
import { addressSchema } from "../address.ts";
import { priceUsdcSchema } from "../amount.ts";
import { signatureSchema } from "../records/nestedSignature.ts";

/** Checks by name, as answers carry them (SHP §7.1). */
export const verificationSchema = z.looseObject({
  checks: z.array(z.looseObject({ name: z.string(), passed: z.boolean() })),
  all_passed: z.boolean(),
});

/** The summary of a receipt that an answer shows (SHP §7.1). `completed_at` is unix seconds. */
export const receiptSummarySchema = z.looseObject({
  receipt_id: z.string(),
  buyer_id: addressSchema,
  seller_id: addressSchema,
  capability: z.string(),
  tx_hash: z.string(),
  price_paid_usdc: priceUsdcSchema,
  payment_mode: z.string(),
  escrow_provider: z.string().nullable(),
  completed_at: z.int(),
});

/**
 * The answer to a paid hire (SHP §7.1). In addition to the wire format it has `hire_id` and `job_id`, the receipt as
 * its seller signed it, and the receipt's entry hash once the ledger has it. `rating_token` is null until then.
 */
export const hireAnswerSchema = z.looseObject({
  protocol: z.string(),
  job_id: z.string().optional(),
  hire_id: z.string().optional(),
  receipt: receiptSummarySchema,
  result: z.unknown(),
  verification: verificationSchema,
  rating_token: z.string().nullable(),
  receipt_hash: z.string().nullish(),
  signed_receipt: z
    .looseObject({
      body: z.record(z.string(), z.unknown()),
      signer: addressSchema,
      signature: signatureSchema,
    })
    .optional(),
});

export type HireAnswer = z.output<typeof hireAnswerSchema>;
export type ReceiptSummary = z.output<typeof receiptSummarySchema>;
export type WireVerification = z.output<typeof verificationSchema>;

/** The answer while the seller still works (SHP §7.2). The buyer gets {@link hireAnswerSchema} later, by the job id. */
export const acceptedSchema = z.looseObject({
  job_id: z.string().min(1).max(128),
  estimated_completion_ms: z.int().nonnegative().optional(),
});
