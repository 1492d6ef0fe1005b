import type { CustomSchemas } from "tallystick-capabilities/customCapability";
import type { Verification } from "tallystick-capabilities/verification";
import { isCustomCapability } from "tallystick-protocol/capability";
import type { Listing } from "tallystick-protocol/records/listing";
import { verifyApart } from "../verification/verifyApart.ts";

/**
 * A caller's own check of a result. It replaces the capability's own verifier, and the seller's schemas of a `custom.*`
 * capability.
 */
export type Verify = (
  params: unknown,
  result: unknown,
  of?: { capability: string; hireId: string },
) => Verification | Promise<Verification>;

/** What judges a result, if not the capability's own verifier: the caller's own check, or the seller's schemas. */
export type Judge = { verify?: Verify | undefined; schemas?: CustomSchemas | undefined };

/**
 * The buyer's check of what was delivered (SHP §8.1). The caller's check is used if there is one. Otherwise the
 * seller's schemas check the result of a custom capability. A standard capability has its own check, in the version
 * that the listing names. These two checks run in a worker that is stopped when it takes too long. Never throws. A
 * check that cannot run counts as failed, and a custom capability without any check counts as failed too.
 */
export async function verifyResult(
  { capability, verification_version: version }: Listing,
  params: unknown,
  result: unknown,
  { verify, schemas }: Judge = {},
  hireId = "",
): Promise<Verification> {
  try {
    if (verify) return await verify(params, result, { capability, hireId });
    if (!isCustomCapability(capability)) return await verifyApart({ capability, params, result, version });
    if (schemas) return await verifyApart({ schemas, result });
    return verdict("verifiable", false, `Nothing says what a result of ${capability} has to be.`);
  } catch (error) {
    return verdict("verifiable", false, error instanceof Error ? error.message : String(error));
  }
}

/** A verification with one check. */
export function verdict(name: string, passed: boolean, detail?: string): Verification {
  return {
    all_passed: passed,
    checks: { [name]: passed },
    details: detail === undefined ? {} : { [name]: detail.slice(0, 300) },
  };
}

/** Makes one verification of two. It passes when both pass. */
export function bothOf(a: Verification, b: Verification): Verification {
  return {
    all_passed: a.all_passed && b.all_passed,
    checks: { ...a.checks, ...b.checks },
    details: { ...a.details, ...b.details },
  };
}
