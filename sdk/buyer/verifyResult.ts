import type { Verification } from "../../protocol/capabilities/verification.ts";
import { verifyOutput } from "../../protocol/capabilities/verifyOutput.ts";
import { isCustomCapability } from "../../protocol/capability.ts";
import type { Listing } from "../../protocol/records/listing.ts";

/** A caller's own judgement of a result: for `custom.*` capabilities, or to ask for more than the standard does. */
export type Verify = (params: unknown, result: unknown) => Verification | Promise<Verification>;

/**
 * The buyer's check of what was delivered (SHP §8.1): the caller's when it has one, else the capability's own in the
 * version the listing targets. A custom capability without a check passes when there is a result at all. Never throws:
 * a check that fails to run has failed.
 */
export async function verifyResult(
  listing: Listing,
  params: unknown,
  result: unknown,
  verify?: Verify,
): Promise<Verification> {
  try {
    if (verify) return await verify(params, result);
    if (!isCustomCapability(listing.capability)) {
      return await verifyOutput(listing.capability, params, result, listing.verification_version);
    }
    return verdict("answered", result !== null && result !== undefined);
  } catch (error) {
    return verdict("verifiable", false, error instanceof Error ? error.message : String(error));
  }
}

/** A verification of one check. */
export function verdict(name: string, passed: boolean, detail?: string): Verification {
  return {
    all_passed: passed,
    checks: { [name]: passed },
    details: detail === undefined ? {} : { [name]: detail.slice(0, 300) },
  };
}
