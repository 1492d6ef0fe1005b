import { TallystickError } from "../errors.ts";

/** The version that this implementation names in every message (SHP §2). */
export const PROTOCOL = "swarmwage/v0.3";

/** The versions of hires that are understood. All have the same wire format (SHP §2). */
const HIRE_VERSIONS = ["swarmwage/v0.1", "swarmwage/v0.2", "swarmwage/v0.3"];

/** The first version whose hires carry a nonce and the buyer's signature. */
const SIGNED_SINCE = "swarmwage/v0.3";

/** @throws TallystickError `unsupported_protocol` */
export function requireHireProtocol(protocol: unknown): void {
  if (typeof protocol === "string" && HIRE_VERSIONS.includes(protocol)) return;
  throw new TallystickError({
    code: "unsupported_protocol",
    message: `protocol: must be one of ${HIRE_VERSIONS.join(", ")}`,
    field: "protocol",
    hint: `Send "protocol": "${PROTOCOL}".`,
  });
}

/** Whether a hire of this version has to be signed. Only the payment shows who the buyer of an older hire is. */
export function isSignedVersion(protocol: string): boolean {
  return protocol === SIGNED_SINCE;
}
