import { type CustomSchemas, verifyCustomOutput } from "../../protocol/capabilities/customCapability.ts";
import type { Verification } from "../../protocol/capabilities/verification.ts";
import { verifyOutput } from "../../protocol/capabilities/verifyOutput.ts";

/** What is to be verified: a result of a standard capability, or one of `custom.*` by its seller's schemas. */
export type VerificationJob =
  | { capability: string; params: unknown; result: unknown; version?: string | undefined }
  | { schemas: CustomSchemas; result: unknown };

/** Verifies on this thread. */
export async function runVerification(job: VerificationJob): Promise<Verification> {
  if ("schemas" in job) return verifyCustomOutput(job.schemas, job.result);
  return await verifyOutput(job.capability, job.params, job.result, job.version);
}
