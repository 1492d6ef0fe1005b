import * as z from "zod";

/**
 * How audits name a hire: `<tx>-<log>` of its payment, or its escrowId. Both come from the chain, so nobody can choose
 * an id to influence the draw.
 */
export const auditedHireSchema = z
  .string()
  .regex(
    /^0x[0-9a-f]{64}(?:-(?:0|[1-9][0-9]{0,8}))?$/,
    "must be an escrowId, or the hash of a payment's transaction, a hyphen and the number of its log",
  );
