import { type CustomSchemas, verifyCustomOutput } from "tallystick-capabilities/customCapability";
import type { Verification } from "tallystick-capabilities/verification";
import { verifyOutput } from "tallystick-capabilities/verifyOutput";

/** A result to verify: by its standard capability, or by the seller's schemas for `custom.*`. */
export type VerificationJob =
  | { capability: string; params: unknown; result: unknown; version?: string | undefined }
  | { schemas: CustomSchemas; result: unknown };

/** Verifies on this thread. */
export async function runVerification(job: VerificationJob): Promise<Verification> {
  if ("schemas" in job) return verifyCustomOutput(job.schemas, job.result);
  return await verifyOutput(job.capability, job.params, job.result, job.version);
}
