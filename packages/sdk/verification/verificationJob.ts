import { type CustomSchemas, verifyCustomOutput } from "tallystick-capabilities/customCapability";
import type { Verification } from "tallystick-capabilities/verification";
import { verifyOutput } from "tallystick-capabilities/verifyOutput";

/** What is to be verified: a result of a standard capability, or one of `custom.*` by its seller's schemas. */
export type VerificationJob =
  | { capability: string; params: unknown; result: unknown; version?: string | undefined }
  | { schemas: CustomSchemas; result: unknown };

/** Verifies on this thread. */
export async function runVerification(job: VerificationJob): Promise<Verification> {
  if ("schemas" in job) return verifyCustomOutput(job.schemas, job.result);
  return await verifyOutput(job.capability, job.params, job.result, job.version);
}
